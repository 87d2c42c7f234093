#pragma once

#include <piracema/error.h>

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
  /// Runs the launcher to its end, or the report; the exit code.
  int run();

 private:
  int start(std::vector<std::string> command);
  /// The file to preload under the ranks of this launcher, whose family is `mpi`.
  Result<std::string> find_library(const std::string& launcher, const std::string& mpi) const;

  CLI::App* coll_ = nullptr;
  std::vector<std::string> launcher_;
  std::string engine_, report_, emulate_, mpi_, library_, interface_;
  bool fixed_order_ = false, any_order_ = false;
};

}  // namespace piracema::tools
