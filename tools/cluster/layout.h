#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cluster/cluster_file.h"

namespace piracema::tools {

/// The files of a cluster. `directory` has cluster.toml and user.key, for whoever submits jobs,
/// administrator.key, a folder for each user (user_home.h), and one for each node with all that
/// this node needs: cluster.toml, node.json, node.key, and for those with a replica of the control
/// plane replica.key.
struct ClusterLayout {
  struct Wanted {
    std::string name;
    /// HOST:PORT of its replica of the control plane; HOST alone: it has none, and is reached there
    /// by other nodes; empty: they cannot.
    std::string address;
    /// NAME, NAME=HOST or NAME=HOST:PORT, not checked yet.
    static Wanted parse(const std::string& text);
  };
  /// Makes a new one of 1, 3, 5 or 7 nodes with an address, and others. Errc::config if there is
  /// one already; Errc::usage, Errc::io.
  static Result<Done> make(const std::string& directory, const std::vector<Wanted>& nodes);

  /// Makes the folder and the key of one more node, without a replica. It is no node before `add`:
  /// what was interrupted is done anew. Errc::usage; Errc::config if there is one of that name.
  static Result<NewClient> prepare(const std::string& directory, const Wanted& node);
  /// Once the group has admitted it: cluster.toml of the cluster names it, and its folder is whole.
  static Result<Done> add(const std::string& directory, const Wanted& node, const NewClient& added);
  /// Once the group has dismissed it; what else is in its folder stays.
  static Result<Done> remove(const std::string& directory, const std::string& name,
                             std::uint64_t client);
};

/// What a node's folder says.
struct NodeHome {
  std::string name;
  std::uint64_t client = 0;
  std::optional<std::uint32_t> replica;
  /// Where other nodes reach it; empty: nowhere.
  std::string address;
  smr::Configuration configuration;

  /// Errc::config names the file, and what was wanted and found.
  static Result<NodeHome> read(const std::string& home);
};

}  // namespace piracema::tools
