#pragma once

#include <queue>
#include <span>
#include <vector>

#include "coll/mpi/exchange.h"
#include "coll/mst/agreement.h"
#include "coll/mst/in_order.h"
#include "coll/mst/node.h"

namespace piracema::coll::mpi {

class Group;

/// The paper's engine on one communicator: runs a `Node` over messages, inside of the broadcast,
/// as the paper does: the program waits for the tree.
class MstRunner {
 public:
  explicit MstRunner(Group&);

  /// One round with the links as they are measured now; collective. The first one builds the tree.
  void adapt();
  std::vector<Rank> neighbours() const { return node_.tree_neighbours(); }
  /// Messages that this rank has sent for trees.
  std::uint64_t messages() const { return messages_; }

 private:
  /// An offer of a cost, with the sender's heaviest one, or a message of a node.
  struct Letter {
    std::uint64_t number = 0;
    double offer = -1, heaviest = 0;
    mst::Message message{};
  };
  struct Later {
    bool operator()(const Exchange::Arrived& a, const Exchange::Arrived& b) const {
      return a.visible_at > b.visible_at;
    }
  };

  Exchange::Arrived next();
  void begin_if_agreed();
  void handle(Rank from, const Letter&);
  void send(Rank to, Letter);
  void send(const mst::Sends&);

  Group& group_;
  mst::Node node_;
  mst::Agreement agreement_;
  mst::InOrder<Letter> order_;
  bool started_ = false;
  std::uint64_t messages_ = 0;
  Outbox outbox_;
  std::priority_queue<Exchange::Arrived, std::vector<Exchange::Arrived>, Later> held_;
};

}  // namespace piracema::coll::mpi
