#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <utility>

#include "ckpt/keeper/keeper_figures.h"
#include "observe/http/server.h"
#include "tools/ckpt/page_process.h"

namespace piracema::tools {

/// Shows a keeper by HTTP, from a process of its own. Where its images lie is looked at there, by a
/// thread: a store that hangs holds neither.
class KeeperPage {
 public:
  /// As PageProcess::start.
  static Result<std::unique_ptr<KeeperPage>> start(const observe::HttpOptions& options);

  const std::string& entrance() const { return process_->entrance(); }
  /// Shows these, and the last lines of the log. Never waits; a second later there is more.
  void show(const ckpt::KeeperFigures& figures);

 private:
  explicit KeeperPage(std::unique_ptr<PageProcess> process) : process_(std::move(process)) {}

  const std::unique_ptr<PageProcess> process_;
};

}  // namespace piracema::tools
