#pragma once

#include <CLI/App.hpp>
#include <string>

namespace piracema::tools {

/// `piracema new NAME`: a project to start from, in a directory of its own.
class NewCommand {
 public:
  /// `app` outlives it.
  explicit NewCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return new_->parsed(); }

  /// Makes the directory and its files. The exit code: 2 for a name that cannot be a target of
  /// CMake, 3 where something of that name is there already, or a file cannot be written.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* new_ = nullptr;
  std::string name_;
};

}  // namespace piracema::tools
