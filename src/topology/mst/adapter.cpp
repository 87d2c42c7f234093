#include "topology/mst/adapter.h"

#include <cstring>
#include <iterator>

namespace piracema::coll::mst {

std::string encode(const Letter& letter) {
  return {reinterpret_cast<const char*>(&letter), sizeof letter};
}

std::optional<Letter> decode_letter(std::span<const char> in) {
  Letter letter;
  if (in.size() != sizeof letter) return std::nullopt;
  std::memcpy(&letter, in.data(), sizeof letter);
  if (static_cast<std::uint8_t>(letter.message.type) >= message_types) return std::nullopt;
  return letter;
}

Adapter::Letters Adapter::begin(std::vector<std::pair<Rank, double>> costs) {
  ENSURE(may_begin());
  wanted_ = false;
  agreeing_ = true;
  Letters out;
  agreement_.measured(costs);
  for (const auto& [to, cost] : costs) {
    out.push_back({to, {.offer = cost, .heaviest = agreement_.heaviest(), .message = {}}});
  }
  begin_if_agreed(out);
  return out;
}

Adapter::Letters Adapter::on(Rank from, const Letter& letter) {
  if (letter.offer < 0) return after(node_.on(from, letter.message));
  agreement_.on_offer(from, letter.offer, letter.heaviest);
  Letters out;
  begin_if_agreed(out);
  return out;
}

void Adapter::begin_if_agreed(Letters& out) {
  if (!agreeing_) return;
  const auto agreed = agreement_.agreed();
  if (!agreed) return;
  agreeing_ = false;
  agreed_ = *agreed;
  for (auto& letter : after(node_.start(*agreed))) out.push_back(std::move(letter));
}

// A tree is read only when its round is over: until then its edges come and go.
Adapter::Letters Adapter::after(Sends sends) {
  const std::uint32_t last = node_.rounds() - 1;
  if (node_.idle() && node_.rounds() > 0 && round_ != last) {
    round_ = last;
    costs_ = agreed_;
    auto neighbours = node_.tree_neighbours();
    if (trees_.empty() || trees_.rbegin()->second != neighbours) {
      trees_.emplace(last, std::move(neighbours));
    }
  }
  Letters out;
  for (const auto& [to, message] : sends) out.push_back({to, {.message = message}});
  return out;
}

const std::vector<Rank>& Adapter::neighbours(std::uint32_t round) const {
  ENSURE(knows(round));
  return std::prev(trees_.upper_bound(round))->second;
}

void Adapter::forget_before(std::uint32_t round) {
  // The tree of that round may be an older one's.
  const auto first = trees_.upper_bound(round);
  if (first == trees_.begin()) return;
  trees_.erase(trees_.begin(), std::prev(first));
}

}  // namespace piracema::coll::mst
