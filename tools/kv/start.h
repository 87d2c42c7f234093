#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema kv start` and `piracema kv init`: a group from nothing. Both make its keys and its
/// configuration; the first also runs all of its replicas here, until it is told to end.
class KvStart {
 public:
  /// Adds the subcommands to `kv`, which outlives it.
  KvStart(CLI::App& kv, const std::string& footer);

  bool parsed() const { return start_->parsed() || init_->parsed(); }
  /// Runs what was parsed: the exit code.
  int run() const;

 private:
  int start() const;
  int init() const;

  CLI::App* start_ = nullptr;
  CLI::App* init_ = nullptr;
  std::string directory_, name_ = "kv";
  std::vector<std::string> addresses_;
  std::uint32_t replicas_ = 0;
  bool byzantine_ = false, memory_ = false;
};

}  // namespace piracema::tools
