#pragma once

#include <piracema/smr/configuration.h>
#include <piracema/smr/replica.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "observe/http/server.h"
#include "tools/kv/replica_board.h"

namespace piracema::tools {

/// `piracema kv replica`: one replica of a group, in this process.
class KvReplica {
 public:
  /// Adds the subcommand to `kv`, which outlives it.
  KvReplica(CLI::App& kv, const std::string& footer);

  bool parsed() const { return replica_->parsed(); }
  /// Runs until SIGTERM, or until it was removed: the exit code.
  int run() const;

 private:
  Result<std::unique_ptr<observe::HttpServer>> serve(const ReplicaBoard& board,
                                                     const std::string& group) const;

  CLI::App* replica_ = nullptr;
  std::string config_, key_, directory_, listen_, http_, http_token_;
  std::uint32_t id_ = 0;
  bool first_start_ = false, json_ = false;
};

}  // namespace piracema::tools
