#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <string>

namespace piracema::tools {

/// `piracema top ADDRESS`: what --http shows of a job, a replica or a queue, on a terminal.
class TopCommand {
 public:
  /// `app` outlives it.
  explicit TopCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return top_->parsed(); }

  /// Draws until nobody answers any more, Ctrl-C, or once. The exit code: 3 if it never answered.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* top_ = nullptr;
  std::string address_, token_file_;
  std::chrono::milliseconds every_{1'000};
  bool once_ = false, json_ = false;
};

}  // namespace piracema::tools
