#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/ask/job_request.h"

namespace piracema::tools {

/// `piracema savepoint ADDRESS NAME`: a snapshot with a name, of a job that runs.
class SavepointCommand {
 public:
  /// `app` outlives it.
  explicit SavepointCommand(CLI::App& app);

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return savepoint_->parsed(); }

  /// Asks, and waits until there is one. The exit code is 1 if it could not be taken, else as
  /// JobRequest has it.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* savepoint_ = nullptr;
  JobRequest request_;
  std::string name_;
};

}  // namespace piracema::tools
