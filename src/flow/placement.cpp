#include "flow/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::flow {

namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};
// Work is never known better than that: within it, items that stay in a process count more.
constexpr double slack = 0.05;
// To look at all pairs of more replicas takes longer than it can gain.
constexpr std::size_t swapped_max = 1'024;
constexpr int rounds_max = 20;

/// Replicas in processes, and the items between them: an edge's are 1, and its channels share them.
class Arrangement {
 public:
  Arrangement(const GraphShape& shape, const Plan& plan, std::uint32_t slots, const Work& work)
      : slot_of_(plan.replicas.size(), nowhere),
        load_(slots),
        neighbours_(plan.replicas.size()),
        near_(plan.replicas.size() * slots) {
    for (const ReplicaPlan& replica : plan.replicas) {
      work_.push_back(work[replica.node]);
      farm_.push_back(shape.nodes[replica.node].replicas);
    }
    const double all = std::accumulate(work_.begin(), work_.end(), 0.0);
    load_wanted_ = (1 + slack) * all / slots;
    for (std::uint32_t from = 0; from < plan.replicas.size(); ++from) {
      const double senders = shape.nodes[plan.replicas[from].node].replicas;
      for (const OutputPlan& output : plan.replicas[from].outputs) {
        const bool to_all = shape.edges[output.edge].delivery == Delivery::broadcast;
        const double ways = to_all ? 1 : static_cast<double>(output.targets.size());
        const double share = 1 / (senders * ways);
        for (const std::uint32_t to : output.targets) {
          neighbours_[from].push_back({to, share});
          neighbours_[to].push_back({from, share});
        }
      }
    }
  }

  /// The heaviest first, each to where least is; of several such processes to the one with which it
  /// exchanges most.
  void fill() {
    std::vector<std::uint32_t> order(slot_of_.size());
    std::iota(order.begin(), order.end(), 0);
    // Of replicas with as much to do those of large farms first: they are the ones to be spread.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(work_[a], farm_[a]) > std::pair(work_[b], farm_[b]);
    });
    for (const std::uint32_t replica : order) {
      std::uint32_t best = 0;
      for (std::uint32_t slot = 1; slot < load_.size(); ++slot) {
        if (std::pair(load_[slot], near(replica, best)) <
            std::pair(load_[best], near(replica, slot))) {
          best = slot;
        }
      }
      put(replica, best);
    }
  }

  /// Moves replicas, and has two change places, as long as that keeps items in a process and no
  /// process gets more to do than it may (after Kernighan and Lin 1970).
  void improve() {
    bool better = true;
    for (int round = 0; better && round < rounds_max; ++round) {
      better = false;
      for (std::uint32_t a = 0; a < slot_of_.size(); ++a) {
        better |= move(a);
        if (slot_of_.size() > swapped_max) continue;
        for (std::uint32_t b = 0; b < a; ++b) better |= swap(a, b);
      }
    }
  }

  const std::vector<std::uint32_t>& slots() const { return slot_of_; }

 private:
  struct Neighbour {
    std::uint32_t replica = 0;
    double share = 0;
  };

  /// Items between a replica and all that are in a slot.
  double& near(std::uint32_t replica, std::uint32_t slot) {
    return near_[replica * load_.size() + slot];
  }

  void put(std::uint32_t replica, std::uint32_t slot) {
    const std::uint32_t before = std::exchange(slot_of_[replica], slot);
    if (before != nowhere) load_[before] -= work_[replica];
    load_[slot] += work_[replica];
    for (const Neighbour& other : neighbours_[replica]) {
      if (before != nowhere) near(other.replica, before) -= other.share;
      near(other.replica, slot) += other.share;
    }
  }

  /// Whether two processes may have so much to do where they had `load_[a]` and `load_[b]`.
  bool may_be(std::uint32_t a, double load_a, std::uint32_t b, double load_b) const {
    const double before = std::max(load_[a], load_[b]);
    return std::max(load_a, load_b) <= std::max(before, load_wanted_) * (1 + 1e-12);
  }

  bool move(std::uint32_t replica) {
    const std::uint32_t from = slot_of_[replica];
    std::uint32_t best = from;
    for (std::uint32_t to = 0; to < load_.size(); ++to) {
      if (near(replica, to) <= near(replica, best) + 1e-9) continue;
      if (may_be(from, load_[from] - work_[replica], to, load_[to] + work_[replica])) best = to;
    }
    if (best == from) return false;
    put(replica, best);
    return true;
  }

  bool swap(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t at_a = slot_of_[a], at_b = slot_of_[b];
    if (at_a == at_b) return false;
    double gain = near(a, at_b) - near(a, at_a) + near(b, at_a) - near(b, at_b);
    if (gain <= 1e-9) return false;
    for (const Neighbour& other : neighbours_[a]) {
      if (other.replica == b)
        gain -= 2 * other.share;  // They are as far from each other as before.
    }
    const double more = work_[b] - work_[a];
    if (gain <= 1e-9 || !may_be(at_a, load_[at_a] + more, at_b, load_[at_b] - more)) return false;
    put(a, at_b);
    put(b, at_a);
    return true;
  }

  std::vector<std::uint32_t> slot_of_;
  std::vector<double> work_, load_;
  double load_wanted_ = 0;
  /// How many replicas the node of each has.
  std::vector<std::uint32_t> farm_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<double> near_;
};

}  // namespace

Work declared_work(const GraphShape& shape) {
  double all = 0, replicas = 0;
  for (const NodeShape& node : shape.nodes) {
    if (node.cost_ns == 0) continue;
    all += static_cast<double>(node.cost_ns);
    replicas += node.replicas;
  }
  const double average = replicas == 0 ? 1 : all / replicas;
  Work work;
  for (const NodeShape& node : shape.nodes) {
    work.push_back(node.cost_ns == 0 ? average : static_cast<double>(node.cost_ns) / node.replicas);
  }
  return work;
}

Result<Work> measured_work(const GraphShape& shape, const std::map<std::string, double>& busy) {
  Work work;
  for (const NodeShape& node : shape.nodes) {
    const auto found = busy.find(node.name);
    if (found == busy.end()) {
      return Error{Errc::config, concat("want what node '", node.name,
                                        "' had to do in an earlier run, found nothing of it")};
    }
    work.push_back(found->second / node.replicas);
  }
  return work;
}

std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan, std::uint32_t slots,
                                 const Work& work) {
  ENSURE(slots >= 1);
  ENSURE(work.size() == shape.nodes.size());
  Arrangement arrangement(shape, plan, slots, work);
  arrangement.fill();
  arrangement.improve();
  return arrangement.slots();
}

std::vector<std::uint32_t> place_again(const Placed& before, const GraphShape& shape,
                                       const Plan& plan, std::uint32_t slots, const Work& work) {
  ENSURE(slots != 0 && before.shape.nodes.size() == shape.nodes.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> former;
  for (std::size_t id = 0; id < before.slots.size(); ++id) {
    former[{before.plan.replicas[id].node, before.plan.replicas[id].index}] = before.slots[id];
  }
  std::vector<std::uint32_t> placed(plan.replicas.size(), nowhere);
  std::vector<double> load(slots);
  const auto put = [&](std::size_t id, std::uint32_t slot) {
    placed[id] = slot;
    load[slot] += work[plan.replicas[id].node];
  };
  const auto least = [&] {
    return static_cast<std::uint32_t>(std::min_element(load.begin(), load.end()) - load.begin());
  };
  for (std::size_t id = 0; id < placed.size(); ++id) {
    const auto was = former.find({plan.replicas[id].node, plan.replicas[id].index});
    if (was != former.end() && was->second < slots) put(id, was->second);
  }
  for (std::size_t id = 0; id < placed.size(); ++id) {
    if (placed[id] == nowhere) put(id, least());
  }
  // Each move brings the two loads nearer to each other, so there is an end.
  for (std::size_t moves = 0; moves < placed.size(); ++moves) {
    const auto most =
        static_cast<std::uint32_t>(std::max_element(load.begin(), load.end()) - load.begin());
    const std::uint32_t to = least();
    const double room = (load[most] - load[to]) * (1 - 1e-9);
    std::size_t best = placed.size();
    // Later replicas of a node first: the borders of keys move where there are most.
    for (std::size_t id = placed.size(); id-- > 0;) {
      const double of = work[plan.replicas[id].node];
      if (placed[id] != most || of >= room || of <= 0) continue;
      if (best == placed.size() || of > work[plan.replicas[best].node]) best = id;
    }
    if (best == placed.size()) break;
    load[most] -= work[plan.replicas[best].node];
    put(best, to);
  }
  return placed;
}

}  // namespace piracema::flow
