#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "topology/message/in_order.h"

namespace piracema::coll {

/// Letters to neighbours, each once and in the order in which they were sent, over a network that
/// loses packets, doubles them and mixes them up: they are numbered, and sent again until the other
/// side says that it has them. Pure; the driver has the network and the clock.
class Courier {
 public:
  struct Packet {
    Rank to = 0;
    std::string bytes;
  };

  void send(Rank to, std::string letter);
  /// Bytes that may come from anybody, in the name of a neighbour. The letters that are due now.
  std::vector<std::string> on_packet(Rank from, std::span<const char> bytes);

  /// What goes out now: new letters, those without an answer for too long, answers. `round_trip`
  /// says how long an answer of a neighbour may take; each time that none comes it is given twice
  /// as long, up to `patience_max`.
  std::vector<Packet> due(Time now, const std::function<Time(Rank)>& round_trip);
  /// When `due` has something to say; far away if nothing is open.
  Time next() const;

  std::uint64_t letters() const { return letters_; }
  /// Letters that were sent once more.
  std::uint64_t again() const { return again_; }

  static constexpr Time patience_least = std::chrono::milliseconds(100);
  static constexpr Time patience_max = std::chrono::seconds(60);

 private:
  struct Open {
    std::uint64_t number = 0;
    std::string letter;
    Time due{}, patience{};
  };
  struct Peer {
    std::deque<Open> open;
    bool owes_answer = false;
  };

  std::string packet(Rank to, const Open*);

  std::map<Rank, Peer> peers_;
  InOrder<std::string> order_;
  std::uint64_t letters_ = 0, again_ = 0;
};

}  // namespace piracema::coll
