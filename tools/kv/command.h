#pragma once

#include <piracema/smr/client.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/kv/administration.h"
#include "tools/kv/doctor.h"
#include "tools/kv/leader.h"
#include "tools/kv/lock.h"
#include "tools/kv/replica.h"
#include "tools/kv/rescue.h"
#include "tools/kv/start.h"
#include "tools/kv/status.h"

namespace piracema::tools {

/// `piracema kv`: a replicated key-value map, from the command line.
class KvCommand {
 public:
  /// Adds the subcommand with its own ones. `app` outlives it.
  explicit KvCommand(CLI::App& app);

  bool parsed() const { return kv_->parsed(); }
  /// Runs what was parsed: the exit code.
  int run();

 private:
  void add_keygen(const std::string& footer);
  void add_demo(const std::string& footer);
  void add_operations(const std::string& footer);

  int keygen() const;
  int operate() const;
  int follow(smr::Client& client) const;

  CLI::App* kv_ = nullptr;
  CLI::App* keygen_ = nullptr;
  CLI::App* demo_ = nullptr;
  std::vector<CLI::App*> operations_;
  std::unique_ptr<KvAdministration> administration_;
  std::unique_ptr<KvDoctor> doctor_;
  std::unique_ptr<KvLeader> leader_;
  std::unique_ptr<KvLock> lock_;
  std::unique_ptr<KvStart> start_;
  std::unique_ptr<KvReplica> replica_;
  std::unique_ptr<KvRescue> rescue_;
  std::unique_ptr<KvStatus> status_;

  std::string config_, key_, directory_, file_;
  std::uint64_t client_ = 1;
  std::string timeout_ = "10s";
  bool follow_ = false, prefix_ = false;
  bool byzantine_ = false, memory_ = false, json_ = false;
  std::vector<std::string> words_;
};

}  // namespace piracema::tools
