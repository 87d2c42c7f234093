#include "run/relay/relay.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace piracema::runtime {

namespace {

std::vector<coll::Branches> ways_of(const coll::Branches& tree) {
  std::vector<coll::Branches> ways;
  if (tree.empty()) return ways;
  for (const auto way : coll::children_of(tree)) ways.emplace_back(way.begin(), way.end());
  return ways;
}

}  // namespace

void Relay::begin(Epoch epoch, const GraphShape& shape, const std::vector<Slot>& placement) {
  std::lock_guard lock(mutex_);
  epoch_ = epoch;
  ways_.clear();
  trees_.clear();
  kept_.clear();
  arrivals_.clear();
  slots_.clear();
  auto next = placement.begin();
  for (const NodeShape& node : shape.nodes) {
    std::vector<Slot> slots(next, next + node.replicas);
    next += node.replicas;
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    slots_.push_back(std::move(slots));
  }
}

bool Relay::is_tree_for(std::uint32_t node, const coll::Branches& tree) const {
  if (node >= slots_.size() || !coll::check(tree, slots_max)) return false;
  std::vector<Slot> wanted = slots_[node];
  if (!std::binary_search(wanted.begin(), wanted.end(), me_)) {
    wanted.insert(std::lower_bound(wanted.begin(), wanted.end(), me_), me_);
  }
  std::vector<Slot> reached;
  for (const coll::Branch& branch : tree) reached.push_back(branch.rank);
  std::sort(reached.begin(), reached.end());
  return tree.front().rank == me_ && reached == wanted;
}

std::vector<Relay::Leaving> Relay::follow(const BroadcastTrees& trees) {
  std::vector<Leaving> again;
  std::lock_guard lock(mutex_);
  if (trees.epoch != epoch_) return again;
  for (const BroadcastTree& told : trees.trees) {
    coll::Branches tree;
    for (const TreeBranch& branch : told.branches) tree.push_back({branch.slot, branch.below});
    if (!is_tree_for(told.node, tree)) continue;
    ways_[told.node] = std::make_shared<const Ways>(ways_of(tree));
    const coll::Branches former = std::exchange(trees_[told.node], tree);
    if (former.empty()) continue;
    const Ways changed = ways_of(coll::reached_otherwise(former, tree));
    for (const auto& [to, packets] : kept_) {
      if (to.first != told.node) continue;
      for (const Kept& kept : packets) {
        auto leaving = leave_by(changed, kept.epoch, kept.from, kept.to, kept.packet);
        std::move(leaving.begin(), leaving.end(), std::back_inserter(again));
      }
    }
  }
  return again;
}

std::shared_ptr<const Relay::Ways> Relay::ways_to(std::uint32_t node) {
  auto& ways = ways_[node];
  if (!ways) {
    Ways straight;
    for (const Slot slot : slots_[node]) {
      if (slot != me_) straight.push_back({{slot, 0}});
    }
    ways = std::make_shared<const Ways>(std::move(straight));
  }
  return ways;
}

std::vector<Relay::Leaving> Relay::send(Epoch epoch, ReplicaId from, const ToAll& to,
                                        Packet packet) {
  std::shared_ptr<const Ways> ways;
  bool keeps = false;
  {
    std::lock_guard lock(mutex_);
    // What a replica still does for an epoch that is over is worth nothing.
    if (epoch != epoch_) return {};
    ways = ways_to(to.node);
    sent_.packets += 1;
    if (const auto* batch = std::get_if<Batch>(&packet)) sent_.bytes += batch->data.size();
    keeps = trees_.contains(to.node);
  }
  // It may be large, and others want to send and to receive meanwhile.
  if (keeps) keep({epoch, from, {.node = to.node, .number = to.number}, packet}, to.done_before);
  return leave_by(*ways, epoch, from, to, std::move(packet));
}

void Relay::keep(Kept one, std::uint64_t done_before) {
  std::lock_guard lock(mutex_);
  if (one.epoch != epoch_) return;
  auto& kept = kept_[{one.to.node, one.from}];
  while (!kept.empty() && kept.front().to.number < done_before) kept.pop_front();
  kept.push_back(std::move(one));
}

std::vector<Relay::Leaving> Relay::leave_by(const Ways& ways, Epoch epoch, ReplicaId from,
                                            const ToAll& to, Packet packet) {
  std::vector<Leaving> leaving;
  if (ways.empty()) return leaving;
  RelayedFrame relayed{to.number, {}, to_frame(std::move(packet), epoch, from, to.node)};
  for (const coll::Branches& way : ways) {
    const bool last = &way == &ways.back();
    // NOLINTNEXTLINE(bugprone-use-after-move): none comes after the last one.
    RelayedFrame frame = last ? std::move(relayed) : RelayedFrame(relayed);
    leaving.push_back({way.front().rank, to_frame(std::move(frame), way)});
  }
  return leaving;
}

LinkWatch::Sent Relay::take_sent() {
  std::lock_guard lock(mutex_);
  return std::exchange(sent_, {});
}

Result<Relay::Coming> Relay::receive(wire::Frame frame) {
  const Epoch epoch = frame.epoch;
  auto relayed = to_relayed(std::move(frame), me_);
  if (!relayed) return relayed.error();
  Coming coming;
  for (const auto way : coll::children_of(relayed->way)) {
    coming.onward.push_back({way.front().rank, to_frame(RelayedFrame(*relayed), way)});
  }
  const ReplicaId from = relayed->packet.from;
  const std::uint32_t node = relayed->packet.to;
  std::lock_guard lock(mutex_);
  if (epoch != epoch_) return Coming{};
  if (node >= slots_.size()) {
    return Error{Errc::corrupt, concat("want a node below ", slots_.size(), ", found ", node)};
  }
  auto& arrivals = arrivals_[node];
  const std::uint64_t next = arrivals.next_from(from);
  if (relayed->number > next + early_max) {
    return Error{Errc::corrupt, concat("want packet ", next, " of replica ", from, " to node ",
                                       node, ", or one soon after it, found ", relayed->number)};
  }
  coming.packets = arrivals.on(from, relayed->number, std::move(relayed->packet));
  return coming;
}

}  // namespace piracema::runtime
