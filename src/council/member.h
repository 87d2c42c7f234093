#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace piracema::council {

/// One of the coordinators of a job. Its seat is its place in the list of them; who takes the seat
/// of one that is lost has another `id`, which nobody had before.
struct Member {
  std::uint32_t id = 0;
  /// Where its replica is, and where workers and agents find it when it leads.
  std::string replica, door;
  /// Of the replica.
  std::string public_key;
  auto fields() { return std::tie(id, replica, door, public_key); }
};

/// Numeric address of the machine that it is on.
std::string machine_of(const Member& member);

}  // namespace piracema::council
