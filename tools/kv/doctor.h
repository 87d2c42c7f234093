#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tools/finding.h"

namespace piracema::tools {

/// What was seen of the place where a replica is to keep its log, and of the members' addresses.
struct ReplicaPlace {
  std::string directory;
  /// Why nothing can be kept there; empty: it can.
  std::string trouble;
  /// It is in memory, and gone with the machine.
  bool in_memory = false;
  std::uint64_t room = 0;
  /// How long it took until some bytes were on the disk, each time.
  std::vector<Time> syncs;

  struct Port {
    std::string address;
    /// Somebody listens there.
    bool answers = false;
    /// Nobody listens, and this host may.
    bool is_free = false;
    /// Else why not.
    std::string trouble;
  };
  std::vector<Port> ports;
};

/// What `piracema kv` needs of it. Pure.
std::vector<Finding> judge(const ReplicaPlace& place);

/// `piracema kv doctor`: says what this machine lacks for a replica.
class KvDoctor {
 public:
  /// Adds the subcommand to `kv`, which outlives it.
  explicit KvDoctor(CLI::App& kv);

  bool parsed() const { return doctor_->parsed(); }
  /// The exit code.
  int run() const;

 private:
  CLI::App* doctor_ = nullptr;
  std::string directory_ = ".", config_;
  bool json_ = false;
};

}  // namespace piracema::tools
