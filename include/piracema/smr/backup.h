#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/state_machine.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace piracema::smr {

/// The state of a service as one replica knows it, for another group to begin with.
struct Backup {
  std::string group;
  std::uint32_t replica = 0;
  /// Everything up to this instance is in it. The replica has voted up to `voted`: what was decided
  /// above `instance`, if anything was, is not in it.
  std::uint64_t instance = 0, voted = 0;
  /// The replica had lost its memory and not caught up: others may know of much more.
  bool behind = false;
  /// Clients that were admitted while the group ran, with their keys.
  std::vector<std::uint64_t> clients;
  std::vector<std::string> client_keys;
  /// StateMachine::snapshot.
  Buffer state;
  auto fields() {
    return std::tie(group, replica, instance, voted, behind, clients, client_keys, state);
  }
};

/// Reads what a replica that does not run has left in `directory`, and changes nothing there.
/// `machine` is as new, and becomes the state. Errc::refused if the replica runs, Errc::not_found
/// if nobody has left anything there, Errc::config (it is another one's), Errc::corrupt, Errc::io.
Result<Backup> back_up(const Configuration& configuration, std::uint32_t replica,
                       const std::string& directory, StateMachine& machine);

/// Durable when it returns. Errc::io.
Result<Done> write_backup(const std::string& file, const Backup& backup);
/// Errc::corrupt for what is no backup, or a damaged one; Errc::not_found, Errc::io.
Result<Backup> read_backup(const std::string& file);

}  // namespace piracema::smr
