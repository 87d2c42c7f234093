#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tools/run/snapshots.h"

namespace piracema::tools {

/// `piracema snapshots DIR`: lists snapshots, names them, and deletes such names.
class SnapshotsCommand {
 public:
  /// `app` outlives it.
  explicit SnapshotsCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return snapshots_->parsed(); }

  /// Gives the exit code.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* snapshots_ = nullptr;
  std::string directory_;
  SavepointChange savepoint_;
  bool verify_ = false;
  bool json_ = false;
};

}  // namespace piracema::tools
