#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tools/coll/coll_page.h"

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
  /// Null: nobody wants to look.
  Result<std::unique_ptr<CollPage>> open_page(const std::vector<std::string>& command,
                                              const std::string& mpi) const;
  /// The file to preload under the ranks of this launcher, whose family is `mpi`.
  Result<std::string> find_library(const std::string& launcher, const std::string& mpi) const;

  CLI::App* coll_ = nullptr;
  std::vector<std::string> launcher_;
  std::string engine_, report_, emulate_, mpi_, library_, interface_;
  std::string http_, http_token_, figures_;
  bool fixed_order_ = false, any_order_ = false;
};

}  // namespace piracema::tools
