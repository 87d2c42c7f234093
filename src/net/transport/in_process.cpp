#include "net/transport/in_process.h"

#include "base/text.h"

namespace piracema::net {

namespace {

using Process = std::pair<Slot, std::uint32_t>;  // And its incarnation.

/// One transport, as the others see it. Its fields belong to whoever has the hub's lock.
struct Node {
  Poller& poller;
  const Process me;
  const Transport::Events events;
  const std::chrono::milliseconds connect_timeout;

  enum class Link { none, wanted, up };
  struct Peer {
    Link link = Link::none;
    std::uint32_t incarnation = 0;
    /// Tells a deadline whether it is still that of the last `connect`.
    std::uint64_t attempt = 0;
  };
  std::map<Slot, Peer> peers;

  bool is_up(Process peer) const {
    const auto found = peers.find(peer.first);
    return found != peers.end() && found->second.link == Link::up &&
           found->second.incarnation == peer.second;
  }
};
using NodePtr = std::shared_ptr<Node>;

// Events are told in the order in which they are posted, so that no frame comes before its
// connection or after its end; nothing is told once the transport is gone.
template <class Event>
void tell(const NodePtr& node, Event event) {
  node->poller.post([weak = std::weak_ptr(node), event = std::move(event)]() mutable {
    if (const auto alive = weak.lock()) event(alive->events);
  });
}

void tell_connected(const NodePtr& node, Process peer) {
  tell(node, [peer](const Transport::Events& e) { e.connected(peer.first, peer.second); });
}

void tell_lost(const NodePtr& node, Process peer, Error why) {
  tell(node, [peer, why = std::move(why)](const Transport::Events& e) {
    e.lost(peer.first, peer.second, why);
  });
}

}  // namespace

/// Who is there. One lock guards all, and what is told is posted under it.
class InProcessHub::State : public std::enable_shared_from_this<State> {
 public:
  void join(const NodePtr& node) {
    std::lock_guard lock(mutex_);
    nodes_[node->me] = node;
    for (auto& [process, other] : nodes_) meet(node, other);
  }

  void leave(const NodePtr& node) {
    std::lock_guard lock(mutex_);
    nodes_.erase(node->me);
    for (auto& [process, other] : nodes_) {
      if (other->is_up(node->me)) end(other, node->me.first, {Errc::io, "the peer has ended"});
    }
  }

  void connect(const NodePtr& node, Process peer) {
    std::lock_guard lock(mutex_);
    Node::Peer& known = node->peers[peer.first];
    if (peer.second < known.incarnation) {
      return tell_lost(node, peer, replaced_by(known.incarnation));
    }
    if (node->is_up(peer)) return tell_connected(node, peer);
    if (peer.second > known.incarnation) cut(node, peer.first, replaced_by(peer.second));
    known.link = Node::Link::wanted;
    known.incarnation = peer.second;
    set_deadline(node, peer, ++known.attempt);
    if (const auto found = nodes_.find(peer); found != nodes_.end()) meet(node, found->second);
  }

  void send(const NodePtr& node, Slot to, wire::Frame frame) {
    std::lock_guard lock(mutex_);
    const auto known = node->peers.find(to);
    if (known == node->peers.end() || known->second.link != Node::Link::up) return;
    const auto found = nodes_.find({to, known->second.incarnation});
    if (found == nodes_.end()) return;
    tell(found->second,
         [from = node->me.first, frame = std::move(frame)](const Transport::Events& e) mutable {
           e.received(from, std::move(frame));
         });
  }

 private:
  // Connects two who are there, if the one with the higher slot wants to and the other one has
  // not heard of a later incarnation of it.
  void meet(const NodePtr& a, const NodePtr& b) {
    if (a->me.first == b->me.first) return;
    const NodePtr& caller = a->me.first > b->me.first ? a : b;
    const NodePtr& called = a->me.first > b->me.first ? b : a;
    Node::Peer& theirs = called->peers[caller->me.first];
    const Node::Peer& ours = caller->peers[called->me.first];
    if (ours.link != Node::Link::wanted || ours.incarnation != called->me.second) return;
    if (theirs.incarnation > caller->me.second) return;
    if (theirs.incarnation < caller->me.second || theirs.link == Node::Link::up) {
      cut(called, caller->me.first, replaced_by(caller->me.second));
    }
    set_up(caller, called->me);
    set_up(called, caller->me);
  }

  void set_up(const NodePtr& node, Process peer) {
    node->peers[peer.first] = {Node::Link::up, peer.second, node->peers[peer.first].attempt};
    tell_connected(node, peer);
  }

  // Ends what there is between a node and a peer, on both sides.
  void cut(const NodePtr& node, Slot peer, const Error& why) {
    const Process other_process{peer, node->peers[peer].incarnation};
    const auto other = nodes_.find(other_process);
    if (node->is_up(other_process) && other != nodes_.end() && other->second->is_up(node->me)) {
      end(other->second, node->me.first, {Errc::io, "the peer closed the connection"});
    }
    end(node, peer, why);
  }

  void end(const NodePtr& node, Slot peer, Error why) {
    Node::Peer& known = node->peers[peer];
    if (std::exchange(known.link, Node::Link::none) == Node::Link::none) return;
    tell_lost(node, {peer, known.incarnation}, std::move(why));
  }

  void set_deadline(const NodePtr& node, Process peer, std::uint64_t attempt) {
    const auto check = [state = shared_from_this(), weak = std::weak_ptr(node), peer, attempt] {
      const NodePtr alive = weak.lock();
      if (alive == nullptr) return;
      std::lock_guard lock(state->mutex_);
      const Node::Peer& known = alive->peers[peer.first];
      if (known.link != Node::Link::wanted || known.attempt != attempt) return;
      state->end(alive, peer.first,
                 {Errc::timeout, concat("slot ", peer.first, " did not connect within ",
                                        alive->connect_timeout.count(), " ms")});
    };
    node->poller.post([&poller = node->poller, at = now() + node->connect_timeout, check] {
      poller.at(at, check);
    });
  }

  std::mutex mutex_;
  std::map<Process, NodePtr> nodes_;
};

class InProcessHub::Endpoint : public Transport {
 public:
  Endpoint(std::shared_ptr<State> state, NodePtr node)
      : state_(std::move(state)), node_(std::move(node)) {
    state_->join(node_);
  }
  ~Endpoint() override { state_->leave(node_); }

  std::string address() const override { return "in this process"; }
  void connect(Slot peer, std::uint32_t incarnation, std::string) override {
    state_->connect(node_, {peer, incarnation});
  }
  void send(Slot to, wire::Frame frame) override { state_->send(node_, to, std::move(frame)); }

 private:
  std::shared_ptr<State> state_;
  NodePtr node_;
};

InProcessHub::InProcessHub() : state_(std::make_shared<State>()) {}

std::unique_ptr<Transport> InProcessHub::join(Poller& poller, Slot me, std::uint32_t incarnation,
                                              Transport::Events events,
                                              std::chrono::milliseconds connect_timeout) {
  auto node = std::make_shared<Node>(
      Node{poller, {me, incarnation}, std::move(events), connect_timeout, {}});
  return std::make_unique<Endpoint>(state_, std::move(node));
}

}  // namespace piracema::net
