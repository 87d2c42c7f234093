#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "topology/measure/link_map.h"

namespace piracema::coll {

/// A datagram to another rank.
struct Packet {
  Rank to = 0;
  std::string bytes;
};

/// Measures the links of one rank by asking the others in turn, and hands on what it knows of all
/// links with every question and answer. Pure: the driver has the socket and the clock.
///
/// Each peer is asked twice a second, but at most a hundred in a second are; at the beginning all
/// of them quickly. A packet has at most `packet_bytes_max` bytes, or one row if that is longer.
class Prober {
 public:
  /// `token` keeps packets of other jobs out.
  Prober(Rank me, Rank size, std::uint64_t token, std::uint64_t seed);

  /// Sends what is due; call it again at `next()`.
  std::vector<Packet> tick(Time now);
  Time next() const { return next_; }
  /// Bytes that may come from anybody. The answer, if one is due.
  std::vector<Packet> on_packet(Time now, std::span<const char> bytes);

  /// Large data has come from a rank, a megabyte in so many seconds.
  void on_transfer(Rank peer, double megabyte) { map_.on_transfer(peer, megabyte); }

  const LinkMap& map() const { return map_; }
  std::uint64_t packets_sent() const { return sent_; }
  /// When an answer of a rank came last; 0: none has.
  Time answered(Rank peer) const { return answered_[peer]; }

 private:
  struct Question {
    std::uint32_t number = 0;
    Time asked{};
  };

  std::string encode(bool is_answer, std::uint32_t number, Time asked);

  Rank me_;
  std::uint64_t token_;
  LinkMap map_;
  Time next_{};
  Rank turn_;
  std::uint64_t asked_ = 0, sent_ = 0;
  Rank row_turn_ = 0;
  std::vector<std::deque<Question>> open_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Time> answered_;
};
constexpr std::size_t packet_bytes_max = 1'400;

}  // namespace piracema::coll
