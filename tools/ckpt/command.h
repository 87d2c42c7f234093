#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/ckpt/daemon.h"
#include "tools/ckpt/keeper_page.h"
#include "tools/ckpt/preparation.h"
#include "tools/ckpt/window.h"

namespace piracema::tools {

/// `piracema ckpt`: checkpoint and restart of programs that know nothing of it.
class CkptCommand {
 public:
  /// Adds the subcommand with its own ones. `app` outlives it.
  explicit CkptCommand(CLI::App& app);

  /// Takes "--" and what follows, which is the program's, off the words: how many are left.
  int take_program(int argc, char** argv);
  bool parsed() const { return ckpt_->parsed(); }
  /// Runs what was parsed: the exit code.
  int run();

 private:
  CLI::App* add(const std::string& name, const std::string& help, const std::string& footer);
  void add_running(CLI::App& app);
  void add_windows(CLI::App& app);
  void add_partner(CLI::App& app);

  int start();
  int resume();
  int ask(const char* word) const;
  int window();
  int slurm();
  int submit_to_slurm() const;
  Result<Done> apply_places(ckpt::JobDirectory& directory, ckpt::JobFile& job,
                            ckpt::RunSettings& settings) const;
  Result<Done> bring(ckpt::JobDirectory& directory, const ckpt::JobFile& job) const;
  int go_on(ckpt::RunSettings settings, std::unique_ptr<KeeperPage> page);
  /// Null if none is wanted.
  Result<std::unique_ptr<KeeperPage>> open_page() const;
  std::unique_ptr<KeeperPage> open_page_of_slurm() const;
  Result<ckpt::RunSettings> settings() const;

  CLI::App *ckpt_ = nullptr, *run_ = nullptr, *resume_ = nullptr, *save_ = nullptr,
           *stop_ = nullptr, *list_ = nullptr, *verify_ = nullptr, *prune_ = nullptr,
           *doctor_ = nullptr, *window_ = nullptr, *sbatch_ = nullptr, *slurm_ = nullptr,
           *plan_ = nullptr;
  std::unique_ptr<CkptDaemon> daemon_;
  std::string directory_, criu_, every_, hosts_, rsh_, local_, partner_, http_, http_token_;
  PreparationOptions preparation_;
  std::vector<std::string> program_;
  WindowOptions windows_;
  std::optional<std::uint64_t> image_;
  std::uint32_t keep_ = 2;
  bool quiet_ = false, json_ = false, compress_ = false, failed_ = false;
};

}  // namespace piracema::tools
