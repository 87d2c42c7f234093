#include "flow/placement.h"

#include <algorithm>
#include <functional>
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
// Less is rounding.
constexpr double least_gain = 1e-9;
// To look at all pairs of more replicas takes longer than it can gain.
constexpr std::size_t swapped_max = 1'024;
constexpr int rounds_max = 20;

/// Replicas in processes, and what goes between them: the channels of an edge share what it has.
class Arrangement {
 public:
  Arrangement(const GraphShape& shape, const Plan& plan, std::uint32_t slots, const Known& known)
      : slot_of_(plan.replicas.size(), nowhere),
        load_(slots),
        nearness_(known.locations, slots),
        neighbours_(plan.replicas.size()) {
    for (const Nearness::Level& level : nearness_.levels()) {
      exchanged_.emplace_back(plan.replicas.size() * level.places);
    }
    for (const ReplicaPlan& replica : plan.replicas) {
      work_.push_back(known.work[replica.node]);
      farm_.push_back(shape.nodes[replica.node].replicas);
      node_of_.push_back(replica.node);
    }
    const double all = std::accumulate(work_.begin(), work_.end(), 0.0);
    load_wanted_ = (1 + slack) * all / slots;
    const std::vector<double> sent = shares_of(known.sent);
    for (std::uint32_t from = 0; from < plan.replicas.size(); ++from) {
      const std::uint32_t node = plan.replicas[from].node;
      const double senders = shape.nodes[node].replicas;
      for (const OutputPlan& output : plan.replicas[from].outputs) {
        const bool to_all = shape.edges[output.edge].delivery == Delivery::broadcast;
        const double ways = to_all ? 1 : static_cast<double>(output.targets.size());
        const double edges =
            sent.empty() ? 1 : static_cast<double>(plan.replicas[from].outputs.size());
        const double share = (sent.empty() ? 1 : sent[node]) / (senders * ways * edges);
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
    for (const std::uint32_t replica : order) put(replica, emptiest_for(replica));
  }

  /// In the order of the graph, as much into each process as is its share: of processes in the
  /// order of their sites and hosts.
  void fill_in_runs() {
    const std::vector<std::uint32_t> order = nearness_.in_order();
    const double share =
        std::accumulate(work_.begin(), work_.end(), 0.0) / static_cast<double>(load_.size());
    double before = 0;
    for (std::uint32_t replica = 0; replica < slot_of_.size(); ++replica) {
      const double middle = before + work_[replica] / 2;
      const auto run = static_cast<std::size_t>(share > 0 ? middle / share : 0);
      put(replica, order[std::min(run, order.size() - 1)]);
      before += work_[replica];
    }
  }

  /// It balances work, and spreads farms, as well as the other does, and keeps more items near.
  bool is_better(const Arrangement& other) const {
    const auto most = [](const Arrangement& one) {
      return std::max(*std::max_element(one.load_.begin(), one.load_.end()), one.load_wanted_);
    };
    return most(*this) <= most(other) * (1 + 1e-12) && crowds_no_more(other) &&
           saved() > other.saved() + least_gain;
  }

  /// Moves replicas, and has two change places, as long as that keeps items near and no process
  /// gets more to do than it may (after Kernighan and Lin 1970).
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

  /// The process where least is; of several such the nearest to those with which it exchanges.
  std::uint32_t emptiest_for(std::uint32_t replica) const {
    std::uint32_t best = 0;
    double best_saved = saved(replica, best);
    for (std::uint32_t slot = 1; slot < load_.size(); ++slot) {
      if (load_[slot] > load_[best]) continue;
      const double here = saved(replica, slot);
      if (load_[slot] == load_[best] && here <= best_saved) continue;
      best = slot;
      best_saved = here;
    }
    return best;
  }

  void put(std::uint32_t replica, std::uint32_t slot) {
    const std::uint32_t before = std::exchange(slot_of_[replica], slot);
    if (before != nowhere) load_[before] -= work_[replica];
    load_[slot] += work_[replica];
    for (std::size_t i = 0; i < exchanged_.size(); ++i) {
      const Nearness::Level& level = nearness_.levels()[i];
      const std::uint32_t to = level.place_of[slot];
      if (before != nowhere && level.place_of[before] == to) continue;
      for (const Neighbour& other : neighbours_[replica]) {
        double* const with = &exchanged_[i][other.replica * level.places];
        if (before != nowhere) with[level.place_of[before]] -= other.share;
        with[to] += other.share;
      }
    }
  }

  const std::vector<std::uint32_t>& slots() const { return slot_of_; }
  const std::vector<double>& loads() const { return load_; }

 private:
  struct Neighbour {
    std::uint32_t replica = 0;
    double share = 0;
  };

  /// Of what was sent, on average 1.
  static std::vector<double> shares_of(const std::vector<double>& sent) {
    const double all = std::accumulate(sent.begin(), sent.end(), 0.0);
    if (all <= 0) return {};
    std::vector<double> shares;
    for (const double one : sent) shares.push_back(one * static_cast<double>(sent.size()) / all);
    return shares;
  }

  /// What items between the replica and all others save if it is there.
  double saved(std::uint32_t replica, std::uint32_t slot) const {
    double saved = 0;
    for (std::size_t i = 0; i < exchanged_.size(); ++i) {
      const Nearness::Level& level = nearness_.levels()[i];
      saved += level.saves * exchanged_[i][replica * level.places + level.place_of[slot]];
    }
    return saved;
  }

  /// What all items save, each counted from both sides.
  double saved() const {
    double all = 0;
    for (std::uint32_t replica = 0; replica < slot_of_.size(); ++replica) {
      all += saved(replica, slot_of_[replica]);
    }
    return all;
  }

  /// No node has more of its replicas in one process than it has at most in the other arrangement.
  bool crowds_no_more(const Arrangement& other) const {
    const std::vector<std::uint32_t> here = crowds(), there = other.crowds();
    return std::equal(here.begin(), here.end(), there.begin(), std::less_equal<>());
  }
  /// For each node, the replicas that it has at most in one process.
  std::vector<std::uint32_t> crowds() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts;
    std::vector<std::uint32_t> most(node_of_.empty() ? 0 : node_of_.back() + 1);
    for (std::uint32_t replica = 0; replica < slot_of_.size(); ++replica) {
      const std::uint32_t node = node_of_[replica];
      most[node] = std::max(most[node], ++counts[{node, slot_of_[replica]}]);
    }
    return most;
  }

  /// Whether two processes may have so much to do where they had `load_[a]` and `load_[b]`.
  bool may_be(std::uint32_t a, double load_a, std::uint32_t b, double load_b) const {
    const double before = std::max(load_[a], load_[b]);
    return std::max(load_a, load_b) <= std::max(before, load_wanted_) * (1 + 1e-12);
  }

  bool move(std::uint32_t replica) {
    const std::uint32_t from = slot_of_[replica];
    std::uint32_t best = from;
    double best_saved = saved(replica, from);
    for (std::uint32_t to = 0; to < load_.size(); ++to) {
      const double there = saved(replica, to);
      if (there <= best_saved + least_gain) continue;
      if (!may_be(from, load_[from] - work_[replica], to, load_[to] + work_[replica])) continue;
      best = to;
      best_saved = there;
    }
    if (best == from) return false;
    put(replica, best);
    return true;
  }

  bool swap(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t at_a = slot_of_[a], at_b = slot_of_[b];
    if (at_a == at_b) return false;
    double gain = saved(a, at_b) - saved(a, at_a) + saved(b, at_a) - saved(b, at_b);
    if (gain <= least_gain) return false;
    // They are as far from each other as before.
    const double apart = nearness_.between(at_a, at_a) - nearness_.between(at_a, at_b);
    for (const Neighbour& other : neighbours_[a]) {
      if (other.replica == b) gain -= 2 * other.share * apart;
    }
    const double more = work_[b] - work_[a];
    if (gain <= least_gain || !may_be(at_a, load_[at_a] + more, at_b, load_[at_b] - more)) {
      return false;
    }
    put(a, at_b);
    put(b, at_a);
    return true;
  }

  std::vector<std::uint32_t> slot_of_;
  std::vector<double> work_, load_;
  double load_wanted_ = 0;
  /// How many replicas the node of each has.
  std::vector<std::uint32_t> farm_;
  std::vector<std::uint32_t> node_of_;
  Nearness nearness_;
  std::vector<std::vector<Neighbour>> neighbours_;
  /// For each level, what each replica exchanges with all that are in each place.
  std::vector<std::vector<double>> exchanged_;
};

/// By how long all replicas of a node were busy, and what they sent.
Result<std::vector<double>> of_nodes(const GraphShape& shape,
                                     const std::map<std::string, double>& measured) {
  std::vector<double> found;
  for (const NodeShape& node : shape.nodes) {
    const auto one = measured.find(node.name);
    if (one == measured.end()) {
      return Error{Errc::config, concat("want what node '", node.name,
                                        "' had to do in an earlier run, found nothing of it")};
    }
    found.push_back(one->second);
  }
  return found;
}

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

Result<Known> known_of(const GraphShape& shape, const EarlierRun& earlier,
                       std::vector<Location> locations) {
  Known known{declared_work(shape), {}, std::move(locations)};
  if (!earlier.busy.empty()) {
    auto busy = of_nodes(shape, earlier.busy);
    if (!busy) return busy.error();
    for (std::size_t i = 0; i < busy->size(); ++i) {
      known.work[i] = (*busy)[i] / shape.nodes[i].replicas;
    }
  }
  if (!earlier.sent.empty()) {
    auto sent = of_nodes(shape, earlier.sent);
    if (!sent) return sent.error();
    known.sent = *std::move(sent);
  }
  return known;
}

std::vector<std::uint32_t> place(const GraphShape& shape, const Plan& plan, std::uint32_t slots,
                                 const Known& known) {
  ENSURE(slots >= 1);
  ENSURE(known.work.size() == shape.nodes.size());
  ENSURE(known.sent.empty() || known.sent.size() == shape.nodes.size());
  Arrangement spread(shape, plan, slots, known), runs = spread;
  spread.fill();
  spread.improve();
  // From there a long pipeline is hardly ever put in order by steps that each make it better.
  runs.fill_in_runs();
  runs.improve();
  return (runs.is_better(spread) ? runs : spread).slots();
}

std::vector<std::uint32_t> place_again(const Placed& before, const GraphShape& shape,
                                       const Plan& plan, std::uint32_t slots, const Known& known) {
  ENSURE(slots != 0 && before.shape.nodes.size() == shape.nodes.size());
  ENSURE(known.work.size() == shape.nodes.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> former;
  for (std::size_t id = 0; id < before.slots.size(); ++id) {
    former[{before.plan.replicas[id].node, before.plan.replicas[id].index}] = before.slots[id];
  }
  Arrangement arrangement(shape, plan, slots, known);
  std::vector<std::uint32_t> others;
  for (std::uint32_t id = 0; id < plan.replicas.size(); ++id) {
    const auto was = former.find({plan.replicas[id].node, plan.replicas[id].index});
    if (was != former.end() && was->second < slots) {
      arrangement.put(id, was->second);
    } else {
      others.push_back(id);
    }
  }
  for (const std::uint32_t id : others) arrangement.put(id, arrangement.emptiest_for(id));
  // Each move brings the two loads nearer to each other, so there is an end.
  const std::vector<double>& load = arrangement.loads();
  const std::vector<std::uint32_t>& placed = arrangement.slots();
  const auto work_of = [&](std::size_t id) { return known.work[plan.replicas[id].node]; };
  for (std::size_t moves = 0; moves < placed.size(); ++moves) {
    const auto most =
        static_cast<std::uint32_t>(std::max_element(load.begin(), load.end()) - load.begin());
    const auto least =
        static_cast<std::uint32_t>(std::min_element(load.begin(), load.end()) - load.begin());
    const double room = (load[most] - load[least]) * (1 - 1e-9);
    std::size_t best = placed.size();
    // Later replicas of a node first: the borders of keys move where there are most.
    for (std::size_t id = placed.size(); id-- > 0;) {
      if (placed[id] != most || work_of(id) >= room || work_of(id) <= 0) continue;
      if (best == placed.size() || work_of(id) > work_of(best)) best = id;
    }
    if (best == placed.size()) break;
    arrangement.put(static_cast<std::uint32_t>(best), least);
  }
  return placed;
}

}  // namespace piracema::flow
