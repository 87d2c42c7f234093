#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/ask/job_request.h"

namespace piracema::tools {

/// `piracema scale ADDRESS OPERATOR=N`: other numbers of replicas or processes for a job that runs.
class ScaleCommand {
 public:
  /// `app` outlives it.
  explicit ScaleCommand(CLI::App& app);

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return scale_->parsed(); }

  /// Asks, and waits until the job runs so. The exit code is 1 if the job stays as it is, else as
  /// JobRequest has it.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* scale_ = nullptr;
  JobRequest request_;
  std::vector<std::string> wanted_;
  std::vector<std::pair<std::string, std::uint32_t>> replicas_;
  std::optional<std::uint32_t> workers_;
};

}  // namespace piracema::tools
