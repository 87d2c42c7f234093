#pragma once

#include "topology/mst/edges.h"

namespace piracema::coll::mst {

/// One node of the algorithm of Gallager, Humblet and Spira (1983): fragments of the minimum
/// spanning tree find the lightest edge that leaves them, and merge over it, until one is left.
///
/// It also starts from fragments that are there already, as they are when edges of a tree have
/// failed: each has a root, which names it anew (state `reiden`) before it looks for an edge.
class Fragment {
 public:
  enum class State : std::uint8_t {
    reiden,  ///< The fragment has no name yet.
    find,    ///< Looking for the lightest edge that leaves the fragment.
    found,
  };

  /// The node is alone, or hangs below `parent` in a fragment; no_rank for the root of one.
  void begin(Rank me, std::uint32_t round, Rank parent);
  /// By the root: names the fragment and looks for the first edge. A node that is alone takes its
  /// lightest edge at once.
  void look(Edges&, Sends&);
  /// False when the message has to wait until something else has happened here.
  [[nodiscard]] bool on(Rank from, const Message&, Edges&, Sends&);

  State state() const { return state_; }
  /// No edge leaves the fragment: it is the tree. The nodes at its core learn of it.
  bool complete() const { return complete_; }
  /// The neighbour towards the core or root; no_rank at a root.
  Rank towards_root() const { return towards_root_; }
  void set_towards_root(Rank to) { towards_root_ = to; }
  auto operator<=>(const Fragment&) const = default;

 private:
  void send(Sends& out, Rank to, MessageType type, std::int32_t level = 0, Weight weight = {},
            bool flag = false) const;
  bool on_connect(Rank from, const Message&, Edges&, Sends&);
  void on_initiate(Rank from, const Message&, Edges&, Sends&);
  bool on_test(Rank from, const Message&, Edges&, Sends&);
  bool on_report(Rank from, const Message&, Edges&, Sends&);
  void spread(Rank from, Edges&, Sends&);
  void test(Edges&, Sends&);
  void report(Edges&, Sends&);
  void change_root(Edges&, Sends&);

  Rank me_ = no_rank;
  std::uint32_t round_ = 0;
  State state_ = State::reiden;
  bool complete_ = false;
  /// Below 0 as long as the fragment has no name: whatever asks for it waits.
  std::int32_t level_ = -1;
  Weight name_;
  Rank towards_root_ = no_rank;
  /// Where the lightest edge is that leaves the part below, and what it weighs.
  Rank best_ = no_rank;
  Weight best_weight_;
  Rank testing_ = no_rank;
  std::uint32_t reports_missing_ = 0;
};

}  // namespace piracema::coll::mst
