#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/broadcasts/host_links.h"
#include "control/coordinator_actions.h"
#include "control/coordinator_job.h"
#include "topology/trees/tree.h"

namespace piracema::cluster {

/// By which hosts packets go that all replicas of a node get: trees over the links as its processes
/// see them (paper 001, for the edges of a stream). A host gets each packet once and passes it on
/// among its own processes.
///
/// Nothing of this is true of the job: a coordinator that takes it over learns it anew. Pure.
class Broadcasts {
 public:
  /// An epoch runs, of these processes. What was seen of links still counts.
  void begin(const Job& job, const std::vector<runtime::Peer>& processes, Epoch epoch, Time now);
  void seen(Slot slot, const runtime::LinksSeen& seen, Time now);

  /// When to ask for `due` at the latest; nothing where there is nothing to plan.
  std::optional<Time> next_deadline() const;

  struct Due {
    std::vector<std::pair<Slot, runtime::BroadcastTrees>> messages;
    std::vector<BroadcastRouted> notes;
  };
  /// What is to be said by now.
  Due due(Time now);

 private:
  /// A process that sends to all replicas of a node, and how.
  struct Edge {
    Slot from = 0;
    std::uint32_t node = 0;
    std::string node_name;
    /// With a replica of the node, by host; the first host is the sender's, and may have none.
    std::vector<std::string> hosts;
    std::vector<std::vector<Slot>> slots;
    coll::Tree tree;
    std::optional<Time> changed;
    bool told = false;
  };

  void add(const Job& job, const EdgeShape& shape);
  void plan(Edge&, Time at);
  static void change(Edge&, coll::Tree, Time at);
  runtime::BroadcastTree tree_of(const Edge&) const;
  std::string text_of(const Edge&) const;
  double bytes_of(Slot slot) const;

  Epoch epoch_ = 0;
  HostLinks links_;
  std::map<Slot, std::string> host_of_;
  std::vector<Edge> edges_;
  /// That take part: they are to watch their links.
  std::vector<Slot> watching_;
  bool watch_told_ = false;
  /// Of a packet, by its sender.
  std::map<Slot, double> bytes_;
  std::uint64_t planned_version_ = 0;
  Time next_plan_{};
  bool changed_ = false;
};

}  // namespace piracema::cluster
