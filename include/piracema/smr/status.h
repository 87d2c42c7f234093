#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace piracema::smr {

/// What one replica says of itself: for people, and no proof of anything.
struct ReplicaStatus {
  std::uint32_t id = 0;
  std::string address;
  /// Why it has said nothing; empty if it has. Then all that follows is as it is here.
  std::string trouble;
  std::uint32_t view = 0, regency = 0;
  std::uint32_t leader = 0;
  /// Instances that it knows to be decided, without a gap.
  std::uint64_t decided = 0;
  bool is_member = false;
  /// It has lost what it had promised, and votes for nothing until it has caught up.
  bool silent = false;
  /// Connections of clients; members that it is connected to.
  std::uint64_t clients = 0;
  std::vector<std::uint32_t> connected;
  /// Pieces of the checkpoint that it fetches, as far as it has them; 0 of 0 if it fetches none.
  std::uint32_t pieces = 0, pieces_of = 0;
};

/// Of a group, as its replicas see it.
struct GroupStatus {
  /// Those of the configuration, by their number.
  std::vector<ReplicaStatus> replicas;
  /// Of the newest view that anybody speaks of: so many have to take part; so many do, as far as
  /// they say.
  std::size_t wanted = 0, here = 0;
  /// Whom `wanted` replicas follow, itself among them.
  std::optional<std::uint32_t> leader;
};

struct StatusOptions {
  /// A client's number; 0: the administrator.
  std::uint64_t client = 1;
  std::string key_file;
  /// For all replicas together; those that have not answered by then have trouble.
  std::chrono::milliseconds timeout{3'000};
};

/// Asks every replica of the configuration. Errc::config, and the errors of the key file; a replica
/// that does not answer is no error.
Result<GroupStatus> ask_status(const Configuration& configuration, const StatusOptions& options);

}  // namespace piracema::smr
