#include "observe/status/lag.h"

#include <algorithm>

namespace piracema::observe {

namespace {

/// How many of an edge's receivers get each item; nothing: items of `from` may go elsewhere.
std::optional<std::uint64_t> copies_over(const GraphShape& shape, const EdgeShape& edge) {
  const auto leaves = [&](const EdgeShape& other) { return other.from == edge.from; };
  if (edge.back || edge.combined || std::ranges::count_if(shape.edges, leaves) != 1) {
    return std::nullopt;
  }
  if (edge.delivery != Delivery::broadcast) return 1;
  return shape.nodes[edge.to].replicas / std::max(edge.parts, 1u);
}

/// What was sent to a node.
std::optional<std::uint64_t> sent_to(const GraphShape& shape, std::uint32_t node,
                                     const std::vector<Lag::Done>& done) {
  std::optional<std::uint64_t> all;
  for (const EdgeShape& edge : shape.edges) {
    if (edge.to != node) continue;
    const auto copies = copies_over(shape, edge);
    if (!copies) return std::nullopt;
    all = all.value_or(0) + *copies * done[edge.from].items_out;
  }
  return all;
}

}  // namespace

void Lag::look(Time at, Epoch epoch, const GraphShape& shape, const std::vector<Done>& done) {
  if (epoch != epoch_ || nodes_.size() != shape.nodes.size()) {
    nodes_.clear();
    nodes_.resize(shape.nodes.size());
    epoch_ = epoch;
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    const auto sent = sent_to(shape, node, done);
    if (sent) look_at(nodes_[node], at, *sent, done[node].items_in);
  }
  sum_up(shape);
}

// Heartbeats of two processes are not of one moment: a receiver may be said to have taken more than
// was sent. And of a snapshot that was overtaken it takes what nobody has sent in this epoch.
void Lag::look_at(Node& node, Time at, std::uint64_t sent, std::uint64_t taken) {
  auto& past = node.past;
  const std::uint64_t before = past.empty() ? 0 : past.back().sent;
  past.push_back({at, std::max(sent, before)});
  node.waiting = Waiting{.items = sent > taken ? sent - taken : 0};
  if (node.waiting->items != 0) node.waiting->age = at - sent_at(past, taken);
  // One that is older than the oldest that waits is needed, no more.
  while (past.size() > 2 && past[1].sent <= taken) past.pop_front();
  if (past.size() < moments_max) return;
  for (std::size_t i = 1; 2 * i < past.size(); ++i) past[i] = past[2 * i];
  past.resize((past.size() + 1) / 2);
}

// When item number `count` was sent, those before it having been spread evenly between two looks.
Time Lag::sent_at(const std::deque<Moment>& past, std::uint64_t count) {
  const auto later = std::ranges::upper_bound(past, count, {}, &Moment::sent);
  if (later == past.end()) return past.back().at;
  if (later == past.begin()) return past.front().at;
  const Moment& before = *std::prev(later);
  const double part =
      static_cast<double>(count - before.sent) / static_cast<double>(later->sent - before.sent);
  return before.at +
         Time(static_cast<Time::rep>(part * static_cast<double>((later->at - before.at).count())));
}

// Nodes may be in any order; without edges back there is no way longer than all nodes.
void Lag::sum_up(const GraphShape& shape) {
  to_the_sinks_.reset();
  const auto is_source_node = [&](std::size_t node) {
    return std::ranges::none_of(shape.edges,
                                [&](const EdgeShape& edge) { return edge.to == node; });
  };
  std::vector<Time> behind(nodes_.size());
  for (std::size_t round = 0; round < nodes_.size(); ++round) {
    bool changed = false;
    for (const EdgeShape& edge : shape.edges) {
      if (!nodes_[edge.to].waiting) return;
      const Time through = behind[edge.from] + nodes_[edge.to].waiting->age;
      if (through <= behind[edge.to]) continue;
      behind[edge.to] = through;
      changed = true;
    }
    if (!changed) break;
  }
  if (std::ranges::all_of(shape.nodes, [&](const NodeShape& node) {
        return is_source_node(static_cast<std::size_t>(&node - shape.nodes.data()));
      })) {
    return;
  }
  to_the_sinks_ = *std::ranges::max_element(behind);
}

}  // namespace piracema::observe
