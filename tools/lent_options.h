#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <string>

#include "forecast/window/lent_machine.h"

namespace piracema::tools {

/// The words that say when this machine is lent, and to whom it is given back.
class LentOptions {
 public:
  void add(CLI::App& command);
  /// Beside them: how long jobs stand still before they leave.
  void add_suspend(CLI::App& command);
  bool is_given() const { return !windows_.empty() || !idle_.empty(); }
  /// Errc::usage, Errc::config.
  Result<ckpt::LentMachine::Settings> settings() const;
  /// How often a window may close before a job has left it well. Errc::usage.
  Result<double> risk() const;

 private:
  Result<Time> suspend(Time grace) const;

  std::string windows_, idle_, presence_, grace_ = "10s", risk_ = "1", suspend_;
  bool can_suspend_ = false;
  double load_ = 0.5;
};

/// "1": from percent to a part. Errc::usage.
Result<double> parse_risk(const std::string& text);

}  // namespace piracema::tools
