#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema kv lock`: runs a command while it holds a lock of the group.
class KvLock {
 public:
  /// Adds the subcommand to `kv`, which outlives it.
  explicit KvLock(CLI::App& kv);

  bool parsed() const { return lock_->parsed(); }
  /// The exit code: the command's, or one of those that the help lists.
  int run() const;

 private:
  CLI::App* lock_ = nullptr;
  std::string config_, key_, wait_, ttl_ = "10s", name_;
  std::uint64_t client_ = 1;
  std::vector<std::string> command_;
};

}  // namespace piracema::tools
