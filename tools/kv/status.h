#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>

namespace piracema::tools {

/// `piracema kv status`: what each replica says of itself, and whether the group can go on.
class KvStatus {
 public:
  /// Adds the subcommand to `kv`, which outlives it.
  KvStatus(CLI::App& kv, const std::string& footer);

  bool parsed() const { return status_->parsed(); }
  /// The exit code: 0 if enough replicas take part and follow one leader, 1 if not.
  int run() const;

 private:
  CLI::App* status_ = nullptr;
  std::string config_, key_, timeout_ = "3s";
  std::uint64_t client_ = 1;
  bool administrator_ = false, json_ = false;
};

}  // namespace piracema::tools
