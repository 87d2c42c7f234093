#pragma once

#include <utility>

#include "topology/mst/fragment.h"

namespace piracema::coll::mst {

/// One node that builds a minimum spanning tree together with its neighbours, and keeps it one when
/// weights change: Cheng, Cimet and Kumar's adaptation as paper 001, section 3, uses it.
///
/// Every node starts each round by itself, with weights on which the ends of each edge agree
/// (`Agreement`). A weight that has grown is a failure, one that has shrunk a recovery. First all
/// failures: edges of the tree that failed are taken out, and the fragments that are left merge
/// again. Then all recoveries, one after the other: each edge goes in if some edge of the cycle
/// that it closes is heavier, which goes out. A round is over for a node when it is `idle` again.
class Node {
 public:
  /// Sends and takes messages from the first round on.
  explicit Node(Rank me) : me_(me) {}

  /// Begins the next round; `costs` has each neighbour, the same ones each time. Only when idle.
  Sends start(const std::vector<std::pair<Rank, double>>& costs);
  /// What comes too early waits inside.
  Sends on(Rank from, const Message&);

  Rank me() const { return me_; }
  bool idle() const { return phase_ == Phase::idle; }
  /// Rounds that were started.
  std::uint32_t rounds() const { return round_ + 1; }
  /// The neighbours in the tree; of the last round when idle.
  std::vector<Rank> tree_neighbours() const { return edges_.branches(); }
  /// Nothing waits for something that has not happened.
  bool nothing_deferred() const { return deferred_.empty(); }
  auto operator<=>(const Node&) const = default;

 private:
  enum class Phase : std::uint8_t { idle, failures, recoveries };

  bool handle(Rank from, const Message&, Sends&);
  void retry(Sends&);
  void send(Sends&, Rank to, MessageType, std::uint32_t number = 0, Weight weight = {},
            Weight other = {}, bool flag = false) const;
  /// To all neighbours in the tree but `from`; how many those are.
  std::uint32_t spread(Sends&, Rank from, MessageType, std::uint32_t number = 0, Weight weight = {},
                       Weight other = {}) const;

  // The first half of a round.
  void take_failures(const std::vector<std::pair<Rank, double>>& costs);
  void begin_failures(Sends&);
  void on_fail(Sends&);
  void ask_not_fail(std::uint32_t tag, Sends&);
  void on_not_fail(Rank from, std::uint32_t tag, Sends&);
  void on_not_fail_ack(std::uint32_t tag, Sends&);
  void not_fail_done(Sends&);
  void on_fragment(Sends&);
  void sleep_failures(Rank from, Sends&);

  // The second half.
  void begin_recoveries(bool root, Sends&);
  void go_on(Sends&);
  void on_not_rec(Rank from, std::uint32_t tag, Sends&);
  void on_not_rec_ack(Rank from, const Message&, Sends&);
  void not_rec_done(Sends&);
  void on_go_on(const Message&, Sends&);
  void on_recover(Rank from, const Message&, Sends&);
  void on_recover_ack(Rank from, const Message&, Sends&);
  void recover_done(Sends&);
  void on_swap(Rank from, const Message&, Sends&);
  void pass_swap(Weight in, Weight out_of, Sends&);
  void sleep_recoveries(Rank from, Sends&);

  Rank me_;
  /// Before the first round: one less than 0.
  std::uint32_t round_ = ~std::uint32_t{0};
  Phase phase_ = Phase::idle;
  Edges edges_;
  Fragment fragment_;
  std::vector<std::pair<Rank, Message>> deferred_;

  /// An edge to somebody below failed.
  bool failed_below_ = false;
  bool fail_passed_on_ = false;
  bool end_asked_ = false;

  /// Questions that spread over the tree and come back: which one, who asked (no_rank: this node),
  /// how many answers are missing.
  std::uint32_t tag_ = 0;
  Rank asked_by_ = no_rank;
  std::uint32_t answers_missing_ = 0;

  /// Edges that have become lighter, and of which this is the lower end.
  std::vector<Weight> recovered_;
  std::vector<std::pair<Rank, Weight>> lighter_;
  /// The lightest that anybody below wants to put in, and who below; no_rank: this node.
  Weight next_;
  Rank next_via_ = no_rank;
  /// The edge that is put in, whether its other end is below, where, and the heaviest on the way.
  Weight recovering_, heaviest_;
  bool found_ = false;
  Rank found_via_ = no_rank;
};

}  // namespace piracema::coll::mst
