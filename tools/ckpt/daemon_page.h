#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <utility>

#include "ckpt/queue/daemon_figures.h"
#include "observe/http/server.h"
#include "tools/ckpt/page_process.h"

namespace piracema::tools {

/// Shows the daemon of a queue by HTTP, from a process of its own.
class DaemonPage {
 public:
  /// As PageProcess::start.
  static Result<std::unique_ptr<DaemonPage>> start(const observe::HttpOptions& options);

  const std::string& entrance() const { return process_->entrance(); }
  /// Shows these, and the last lines of the log. Never waits; a second later there is more.
  void show(const ckpt::DaemonFigures& figures);

 private:
  explicit DaemonPage(std::unique_ptr<PageProcess> process) : process_(std::move(process)) {}

  const std::unique_ptr<PageProcess> process_;
};

}  // namespace piracema::tools
