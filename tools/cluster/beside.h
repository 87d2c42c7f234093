#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/operations.h"
#include "tools/cluster/client.h"
#include "tools/cluster/followed_job.h"

namespace piracema::tools {

/// What a stream is asked for by the number of its job: `cluster savepoint` and `cluster scale`.
/// The commands of the same names are run beside it, on its node, and say what comes of it.
class ClusterBeside {
 public:
  /// Adds its commands to `piracema cluster`.
  explicit ClusterBeside(CLI::App& cluster);

  /// One of its commands was given.
  bool parsed() const { return savepoint_->parsed() || scale_->parsed(); }
  /// The exit code: that of the command that was run beside the job.
  int run() const;

 private:
  CLI::App* add(CLI::App& cluster, const char* name, const char* help);
  /// Of the command that is run beside the job.
  std::vector<std::string> words() const;
  /// That it is to have so many workers, and maybe nodes, can be.
  Result<Done> check_places(const jobs::JobSpec& spec) const;
  int ask(ClusterClient& client) const;
  int give_nodes(ClusterClient& client) const;
  int wait(FollowedJob followed, const jobs::Job& asked) const;
  int tell(const jobs::Ended& ended) const;
  int trouble(const Error& error) const;
  int say(const char* state, const std::string& text, int code) const;

  CLI::App *savepoint_, *scale_;
  std::string directory_, timeout_ = "10s", within_ = "60s", name_;
  std::vector<std::string> wanted_;
  std::optional<std::uint32_t> workers_, nodes_;
  std::uint64_t job_ = 0;
  bool json_ = false;
};

}  // namespace piracema::tools
