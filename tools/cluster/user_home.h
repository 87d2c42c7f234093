#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "tools/cluster/cluster_file.h"

namespace piracema::tools {

/// The directory from which a user asks a cluster: cluster.toml, user.key and user.json. That of
/// the whole cluster is the first user's, and has no user.json.
struct UserHome {
  std::string name;
  std::uint64_t client = 0;
  std::string key_file;

  /// Errc::config names the file, and what was wanted and found.
  static Result<UserHome> read(const std::string& directory);

  /// Of another user, in the directory of the cluster.
  static std::string of(const std::string& cluster, const std::string& name);
  /// Makes the folder and the key of one more user. It is no user before `add`: what was
  /// interrupted is done anew. Errc::config if there is one of that name; Errc::io.
  static Result<NewClient> prepare(const std::string& cluster, const std::string& name);
  /// Once the group has admitted it: cluster.toml of the cluster names it, and its folder is whole.
  static Result<Done> add(const std::string& cluster, const std::string& name,
                          const NewClient& added);
  /// Once the group has dismissed it.
  static Result<Done> remove(const std::string& cluster, const UserHome& user);
};

}  // namespace piracema::tools
