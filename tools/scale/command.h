#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/top/http_client.h"

namespace piracema::tools {

/// `piracema scale ADDRESS OPERATOR=N`: other numbers of replicas or processes for a job that runs.
class ScaleCommand {
 public:
  /// `app` outlives it.
  explicit ScaleCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return scale_->parsed(); }

  /// Asks, and waits until the job runs so. The exit code: 1 if the job stays as it is, 2 for words
  /// that mean nothing, 3 if it cannot be, or there is no answer, 75 if it may be asked again.
  int run() const;

 private:
  std::optional<int> ask(const JobAddress& address) const;
  int wait(const JobAddress& address, std::uint64_t before) const;
  int say(const std::string& state, const std::string& text, int code,
          std::optional<double> took = std::nullopt,
          std::optional<double> paused = std::nullopt) const;

  CLI::App& app_;
  CLI::App* scale_ = nullptr;
  std::string address_, token_file_;
  std::vector<std::string> wanted_;
  std::vector<std::pair<std::string, std::uint32_t>> replicas_;
  std::optional<std::uint32_t> workers_;
  std::chrono::milliseconds within_{60'000};
  bool json_ = false;
};

}  // namespace piracema::tools
