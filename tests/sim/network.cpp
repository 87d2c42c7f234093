#include "sim/network.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::sim {

Node Network::add(std::string name) {
  machines_.push_back({.name = std::move(name)});
  return static_cast<Node>(machines_.size() - 1);
}

void Network::send(Node from, Node to, const std::string& what, std::function<void()> work) {
  if (!up(from)) return;
  const auto own = links_.find({from, to});
  const Link& link = own == links_.end() ? link_ : own->second;
  Random& random = scheduler_.random();
  if (blocked_.contains({from, to}) || (link.loss > 0 && random.chance(link.loss))) {
    scheduler_.trace(name(from), " -> ", name(to), ": ", what, " is lost");
    return;
  }
  scheduler_.trace(name(from), " -> ", name(to), ": ", what);
  if (link.duplication > 0 && random.chance(link.duplication)) {
    deliver(to, arrival(from, to, link), work);
  }
  deliver(to, arrival(from, to, link), std::move(work));
}

void Network::after(Node node, Time delay, std::function<void()> work) {
  deliver(node, scheduler_.now() + delay + machines_[node].slower_by, std::move(work));
}

Time Network::arrival(Node from, Node to, const Link& link) {
  const Time time = scheduler_.now() + scheduler_.between(link.least_delay, link.most_delay) +
                    machines_[to].slower_by;
  if (!link.in_order) return time;
  Time& last = last_arrival_[{from, to}];
  return last = std::max(last, time);
}

void Network::deliver(Node to, Time at, std::function<void()> work) {
  scheduler_.at(at, [this, to, life = machines_[to].life, work = std::move(work)]() mutable {
    if (machines_[to].up && machines_[to].life == life) do_work(to, std::move(work));
  });
}

void Network::do_work(Node node, std::function<void()> work) {
  Machine& machine = machines_[node];
  if (machine.frozen) {
    machine.waiting.push_back(std::move(work));
  } else {
    work();
  }
}

void Network::crash(Node node) {
  scheduler_.trace(name(node), " crashes");
  Machine& machine = machines_[node];
  machine.up = false;
  machine.frozen = false;
  machine.life += 1;
  machine.waiting.clear();
}

void Network::restart(Node node) {
  ENSURE(!up(node));
  scheduler_.trace(name(node), " is up again");
  machines_[node].up = true;
}

void Network::freeze(Node node) {
  if (!up(node)) return;
  scheduler_.trace(name(node), " freezes");
  machines_[node].frozen = true;
}

void Network::thaw(Node node) {
  if (!frozen(node)) return;
  scheduler_.trace(name(node), " goes on");
  machines_[node].frozen = false;
  // What waited may crash or freeze the node, or add machines.
  auto waiting = std::exchange(machines_[node].waiting, {});
  const std::uint64_t life = machines_[node].life;
  while (!waiting.empty() && machines_[node].life == life && !frozen(node)) {
    auto work = std::move(waiting.front());
    waiting.pop_front();
    work();
  }
  if (machines_[node].life != life) return;
  auto& rest = machines_[node].waiting;
  rest.insert(rest.begin(), std::make_move_iterator(waiting.begin()),
              std::make_move_iterator(waiting.end()));
}

void Network::partition(const std::set<Node>& side) {
  for (Node a = 0; a < machines_.size(); ++a) {
    for (Node b = 0; b < machines_.size(); ++b) {
      if (side.contains(a) != side.contains(b)) block(a, b);
    }
  }
}

}  // namespace piracema::sim
