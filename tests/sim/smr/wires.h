#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace piracema::smr_sim {

/// How messages travel.
struct WireFaults {
  Time least_delay = std::chrono::microseconds(50);
  Time most_delay = std::chrono::microseconds(500);
  /// As on one connection; otherwise a message may overtake another.
  bool in_order = true;
  /// How often a message is lost, or comes twice, from 0 to 1.
  double loss = 0, duplication = 0;
  /// How often one takes a hundred times as long.
  double straggler = 0;
};

/// The wires between nodes that are numbered from 0: when, and how often, what is sent arrives.
class Wires {
 public:
  Wires(Random& random, std::size_t nodes) : random_(random), nodes_(nodes) {
    slowness_.resize(nodes, 1);
    blocked_.resize(nodes * nodes);
    last_.resize(nodes * nodes);
    ways_.resize(nodes);
  }

  void set_faults(const WireFaults& faults) { faults_ = faults; }
  /// Everything that the node sends, receives and does takes so many times as long.
  void set_slowness(std::size_t node, int times) { slowness_[node] = times; }
  int slowness(std::size_t node) const { return slowness_[node]; }

  /// So many bytes a second, at most, come to the node from all others together; 0: all at once.
  void set_rate(std::size_t node, std::uint64_t bytes) { ways_[node].rate = bytes; }

  /// What is sent from one to the other is lost; the way back stays as it is.
  void block(std::size_t from, std::size_t to) { blocked_[from * nodes_ + to] = true; }
  void heal() { std::fill(blocked_.begin(), blocked_.end(), false); }
  bool blocked(std::size_t from, std::size_t to) const { return blocked_[from * nodes_ + to]; }

  struct Arrivals {
    std::array<Time, 2> at;
    std::size_t count = 0;
  };
  Arrivals send(std::size_t from, std::size_t to, Time now, std::uint64_t bytes = 0) {
    Arrivals arrivals;
    if (blocked(from, to) || (faults_.loss > 0 && random_.chance(faults_.loss))) return arrivals;
    now = pass(ways_[to], now, bytes);
    arrivals.at[arrivals.count++] = arrival(from, to, now);
    if (faults_.duplication > 0 && random_.chance(faults_.duplication)) {
      arrivals.at[arrivals.count++] = arrival(from, to, now);
    }
    return arrivals;
  }

  /// From `least` to `most`.
  Time between(Time least, Time most) {
    return least + Time(random_.below(static_cast<std::uint64_t>((most - least).count()) + 1));
  }

 private:
  Time arrival(std::size_t from, std::size_t to, Time now) {
    const Time delay = between(faults_.least_delay, faults_.most_delay);
    int times = std::max(slowness_[from], slowness_[to]);
    // Not both: what follows on a connection would come after the end of all trouble.
    if (faults_.straggler > 0 && random_.chance(faults_.straggler)) times = std::max(times, 100);
    Time at = now + delay * times;
    if (faults_.in_order) {
      Time& last = last_[from * nodes_ + to];
      at = last = std::max(at, last);
    }
    return at;
  }

  struct Way {
    std::uint64_t rate = 0;
    /// What was sent before is through.
    Time free{};
  };
  static Time pass(Way& way, Time now, std::uint64_t bytes) {
    if (way.rate == 0) return now;
    return way.free = std::max(way.free, now) + Time(std::chrono::seconds(1)) *
                                                    static_cast<std::int64_t>(bytes) /
                                                    static_cast<std::int64_t>(way.rate);
  }

  Random& random_;
  const std::size_t nodes_;
  WireFaults faults_;
  std::vector<int> slowness_;
  std::vector<bool> blocked_;
  std::vector<Time> last_;
  std::vector<Way> ways_;
};

}  // namespace piracema::smr_sim
