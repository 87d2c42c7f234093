#pragma once

#include <CLI/App.hpp>
#include <string>

namespace piracema::tools {

/// `piracema doctor`: what this machine can and cannot do, with the commands that mend it.
class DoctorCommand {
 public:
  /// `app` outlives it.
  explicit DoctorCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return doctor_->parsed(); }

  /// Looks, asks the products' programs, and prints. The exit code: 1 if something is missing that
  /// one of them needs. For a process without other children.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* doctor_ = nullptr;
  bool json_ = false;
};

}  // namespace piracema::tools
