#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema kv leader`: where the leader is, for who has no key.
class KvLeader {
 public:
  /// Adds the subcommand to `kv`, which outlives it.
  KvLeader(CLI::App& kv, const std::string& footer);

  bool parsed() const { return leader_->parsed(); }
  /// The exit code: 1 if nobody answers.
  int run() const;

 private:
  CLI::App* leader_ = nullptr;
  std::string config_, group_, timeout_ = "3s";
  std::vector<std::string> addresses_;
  bool json_ = false;
};

}  // namespace piracema::tools
