#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <string>

#include "tools/run/command.h"

namespace piracema::tools {

/// The words of `piracema run`.
class RunArguments {
 public:
  /// `app` outlives it.
  explicit RunArguments(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return run_->parsed(); }

  /// What they ask for, with what environment and file of settings say besides. Errc::usage,
  /// Errc::config. Once.
  Result<RunCommand> read();

 private:
  void add_places();
  void add_snapshots();
  void add_resuming();
  void add_processes();
  void add_watching();

  CLI::App& app_;
  CLI::App* run_ = nullptr;
  RunCommand command_;
  std::string settings_file_;
  std::string http_, http_token_;
};

}  // namespace piracema::tools
