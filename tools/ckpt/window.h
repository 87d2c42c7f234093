#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>

#include "ckpt/keeper/keeper_loop.h"

/// `piracema ckpt window` and `plan`: from words on the command line to times.
namespace piracema::tools {

struct WindowOptions {
  /// "06:00", "2h", or both: the earlier one; or a file of windows.
  std::string until, during, file;
  /// In percent.
  std::string risk = "1";
};

/// Sets `window`, `risk` and the keeper's part of `settings`. Errc::usage, Errc::config.
Result<Done> apply_window(const WindowOptions& options, ckpt::RunSettings& settings);

/// Prints when the last checkpoint of a window is to begin, and why: the exit code.
int show_plan(const std::string& directory, const WindowOptions& options, bool json);

}  // namespace piracema::tools
