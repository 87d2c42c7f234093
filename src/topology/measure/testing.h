#pragma once

#include <algorithm>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "topology/measure/prober.h"

namespace piracema::coll::testing {

/// Probers of a whole job on simulated links, which the test may change at any time. Packets take
/// up to 2 % longer than their links say.
struct ProbedLinks {
  ProbedLinks(LinkTable the_links, std::uint64_t seed) : links(std::move(the_links)), random(seed) {
    for (Rank rank = 0; rank < links.size(); ++rank) {
      probers.emplace_back(rank, links.size(), 42, rank);
    }
  }
  virtual ~ProbedLinks() = default;

  void run_until(Time end) {
    while (true) {
      Time next = end;
      for (const Prober& prober : probers) next = std::min(next, prober.next());
      if (!air.empty()) next = std::min(next, air.top().at);
      next = std::min(next, next_of_others());
      if (next >= end) break;
      now = std::max(now, next);
      for (Rank rank = 0; rank < probers.size(); ++rank) send(rank, probers[rank].tick(now));
      while (!air.empty() && air.top().at <= now) {
        const Flying packet = air.top();
        air.pop();
        on_packet(packet);
      }
      act();
    }
    now = end;
  }

  struct Flying {
    Time at;
    std::uint64_t number;
    Rank from, to;
    std::string bytes;
    bool operator<(const Flying& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };
  void send(Rank from, std::vector<Packet> packets) {
    for (Packet& packet : packets) {
      if (random.chance(loss)) continue;
      air.push({now + delay(from, packet.to), ++count, from, packet.to, std::move(packet.bytes)});
    }
  }
  Time delay(Rank from, Rank to) {
    const double latency = links.at(from, to).latency * (1 + 0.02 * random.unit()) + 50e-6;
    return std::chrono::duration_cast<Time>(std::chrono::duration<double>(latency));
  }

  LinkTable links;
  Random random;
  double loss = 0;
  Time now{};
  std::vector<Prober> probers;

 protected:
  /// What others than probers do, who use these links, too.
  virtual Time next_of_others() const { return Time::max(); }
  virtual void act() {}
  virtual void on_packet(const Flying& packet) {
    send(packet.to, probers[packet.to].on_packet(now, packet.bytes));
  }

 private:
  std::uint64_t count = 0;
  std::priority_queue<Flying> air;
};

}  // namespace piracema::coll::testing
