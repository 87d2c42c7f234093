#include "coll/figures/tree_parts.h"

#include <algorithm>
#include <cstring>

namespace piracema::coll {

std::string TreeParts::encode(std::uint32_t round, const std::vector<Rank>& neighbours) {
  std::string out;
  const auto put_number = [&](std::uint32_t number) {
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put_number(round);
  for (const Rank neighbour : neighbours) put_number(neighbour);
  return out;
}

void TreeParts::on_part(Rank from, std::span<const char> bytes) {
  Part part;
  const std::size_t head = sizeof part.round;
  if (from >= told_.size() || bytes.size() < head) return;
  const std::size_t count = (bytes.size() - head) / sizeof(Rank);
  if ((bytes.size() - head) % sizeof(Rank) != 0 || count >= told_.size()) return;
  std::memcpy(&part.round, bytes.data(), head);
  for (std::size_t i = 0; i < count; ++i) {
    Rank neighbour = 0;
    std::memcpy(&neighbour, bytes.data() + head + i * sizeof(Rank), sizeof(Rank));
    part.neighbours.push_back(neighbour);
  }
  const auto is_no_neighbour = [&](Rank rank) { return rank >= told_.size() || rank == from; };
  if (std::any_of(part.neighbours.begin(), part.neighbours.end(), is_no_neighbour)) return;
  auto& told = told_[from];
  if (!told || told->round <= part.round) told = std::move(part);
}

std::optional<Tree> TreeParts::tree(std::uint32_t round, const std::vector<Rank>& own) const {
  const auto size = static_cast<Rank>(told_.size());
  Tree tree(size, 0);
  std::vector<bool> hangs(size, false);
  hangs[0] = true;
  std::vector<Rank> order{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Rank at = order[i];
    if (at != 0 && (!told_[at] || told_[at]->round != round)) return std::nullopt;
    for (const Rank next : at == 0 ? own : told_[at]->neighbours) {
      if (next == tree.parent[at]) continue;
      if (next >= size || hangs[next]) return std::nullopt;
      hangs[next] = true;
      tree.adopt(at, next);
      order.push_back(next);
    }
  }
  if (order.size() != size) return std::nullopt;
  return tree;
}

}  // namespace piracema::coll
