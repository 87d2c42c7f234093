#pragma once

#include <string>
#include <vector>

/// What a machine needs to save and restart jobs, looked at before anybody relies on it.
namespace piracema::ckpt {

struct Finding {
  std::string what;
  bool ok = false;
  /// Without it nothing works; else it is worth knowing.
  bool needed = true;
  /// What was found, and what to do if it is not ok.
  std::string text;
};

/// `criu`: as for find_criu. `program`: this program's file. Takes a second or so; makes a capsule
/// and ends it. For a process of one thread.
std::vector<Finding> examine(const std::string& criu, const std::string& program);

}  // namespace piracema::ckpt
