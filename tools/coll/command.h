#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema coll`: starts an MPI job whose collectives follow the network, and tells afterwards
/// what they did.
class CollCommand {
 public:
  /// Adds the subcommand. `app` outlives it.
  explicit CollCommand(CLI::App& app);

  /// Before anything is parsed: keeps what follows `--` for itself. The arguments that are left.
  int take_launcher(int argc, char** argv);
  bool parsed() const { return coll_->parsed(); }
  /// Becomes the launcher, or runs the report: then the exit code.
  int run();

 private:
  int start(std::vector<std::string> command);

  CLI::App* coll_ = nullptr;
  std::vector<std::string> launcher_;
  std::string engine_, report_, emulate_, mpi_, library_;
};

}  // namespace piracema::tools
