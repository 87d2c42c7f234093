#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "topology/trees/costs.h"

/// The paper's engine: a minimum spanning tree that its nodes build and keep by messages to their
/// neighbours (paper 001, section 3). Pure: no clock, no socket, no thread.
namespace piracema::coll::mst {

/// The cost of an edge, and its ends: no two edges weigh the same, and both ends agree.
struct Weight {
  double cost = std::numeric_limits<double>::infinity();
  Rank low = no_rank, high = no_rank;

  static Weight of(double cost, Rank a, Rank b) { return {cost, a < b ? a : b, a < b ? b : a}; }
  bool is_none() const { return low == no_rank; }
  auto operator<=>(const Weight&) const = default;
};

enum class MessageType : std::uint8_t {
  // Gallager, Humblet and Spira 1983.
  connect,   ///< number: level
  initiate,  ///< number: level; weight: name of the fragment; flag: find
  test,      ///< number: level; weight: name
  accept,
  reject,
  report,  ///< weight: the lightest edge that leaves
  change_root,
  // Adaptation (section 3): failures, and their end.
  fail,          ///< to the root: an edge of the tree failed below
  not_fail,      ///< number: tag
  not_fail_ack,  ///< number: tag
  gosleep_fail,
  // Recoveries, and their end.
  not_rec,      ///< number: tag
  not_rec_ack,  ///< number: tag; weight: the lightest edge that wants to be put in, or none
  go_on,        ///< weight: the edge that is put in next; its lower end is the root from now on
  recover,      ///< weight: the edge; other: the heaviest edge on the way so far
  recover_ack,  ///< flag: the other end is there; other: the heaviest edge of the whole way
  swap,         ///< weight: put in; other: taken out
  swap_done,
  gosleep_rec,
};
constexpr std::uint8_t message_types = static_cast<std::uint8_t>(MessageType::gosleep_rec) + 1;

/// From one node to a neighbour. Messages between two nodes arrive in the order in which they were
/// sent (`InOrder` sees to it where the network does not).
struct Message {
  MessageType type{};
  bool flag = false;
  /// Which adaptation it is of: 0 is the first tree.
  std::uint32_t round = 0;
  std::uint32_t number = 0;
  Weight weight, other;
  auto operator<=>(const Message&) const = default;
};

struct Send {
  Rank to = 0;
  Message message;
};
using Sends = std::vector<Send>;

}  // namespace piracema::coll::mst
