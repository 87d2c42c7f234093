#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sim/scheduler.h"

namespace piracema::sim {

using Node = std::uint32_t;

/// How messages travel from one node to another.
struct Link {
  Time least_delay = std::chrono::microseconds(50);
  Time most_delay = std::chrono::microseconds(500);
  /// Messages arrive in the order in which they were sent, as on a connection.
  bool in_order = true;
  /// How often a message is lost, or comes twice, from 0 to 1.
  double loss = 0, duplication = 0;
};

/// Machines and the links between them. A message is a piece of work for the receiver; what it
/// carries lies in the closure.
class Network {
 public:
  explicit Network(Scheduler& scheduler, Link link = {}) : scheduler_(scheduler), link_(link) {}

  Node add(std::string name);
  const std::string& name(Node node) const { return machines_[node].name; }
  /// For messages sent from now on.
  void set_link(Node from, Node to, Link link) { links_[{from, to}] = link; }

  /// Work that a node does when the message arrives, if it is up by then and was up all the time.
  void send(Node from, Node to, const std::string& what, std::function<void()> work);
  /// Work that a node does later, if it has not crashed by then.
  void after(Node node, Time delay, std::function<void()> work);

  /// What is on its way to the node, and what it wanted to do later, is lost. What it has sent
  /// still arrives.
  void crash(Node node);
  void restart(Node node);
  bool up(Node node) const { return machines_[node].up; }

  /// The node does nothing; what arrives waits until it goes on.
  void freeze(Node node);
  void thaw(Node node);
  bool frozen(Node node) const { return machines_[node].frozen; }
  /// Everything that the node does is so much later.
  void slow_down(Node node, Time by) { machines_[node].slower_by = by; }

  /// What is sent from one to the other is lost; the way back stays open.
  void block(Node from, Node to) { blocked_.insert({from, to}); }
  void unblock(Node from, Node to) { blocked_.erase({from, to}); }
  /// The nodes of `side` and the others lose what they send to each other.
  void partition(const std::set<Node>& side);
  /// All links are open again.
  void heal() { blocked_.clear(); }

 private:
  struct Machine {
    std::string name;
    bool up = true;
    bool frozen = false;
    /// Raised by a crash: work of an older life is not done.
    std::uint64_t life = 0;
    Time slower_by{};
    std::deque<std::function<void()>> waiting;
  };

  void deliver(Node to, Time at, std::function<void()> work);
  void do_work(Node node, std::function<void()> work);
  Time arrival(Node from, Node to, const Link& link);

  Scheduler& scheduler_;
  const Link link_;
  std::vector<Machine> machines_;
  std::map<std::pair<Node, Node>, Link> links_;
  std::map<std::pair<Node, Node>, Time> last_arrival_;
  std::set<std::pair<Node, Node>> blocked_;
};

}  // namespace piracema::sim
