#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/lent_options.h"

namespace piracema::tools {

/// `piracema ckpt daemon`, `submit` and `queue`: jobs that wait for machines to be lent.
class CkptDaemon {
 public:
  /// Adds its subcommands to `piracema ckpt`, which outlives it.
  explicit CkptDaemon(CLI::App& ckpt);

  /// Runs what was parsed, with the words behind "--": the exit code. None if it was another
  /// subcommand.
  std::optional<int> run(const std::vector<std::string>& program);

 private:
  int serve();
  int submit(const std::vector<std::string>& program);
  int list();

  CLI::App *daemon_ = nullptr, *submit_ = nullptr, *list_ = nullptr;
  std::string queue_, directory_, http_, http_token_;
  LentOptions lent_;
  std::uint32_t slots_ = 1;
  bool stream_ = false, compress_ = false, until_empty_ = false, clear_ = false, json_ = false;
};

}  // namespace piracema::tools
