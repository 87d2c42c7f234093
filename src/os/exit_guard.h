#pragma once

namespace piracema::cluster {

/// While it lives, a program that calls `exit(0)` ends with code 1 and a line that says so: its job
/// is under way, and what it has written is not whole. Other codes stay, and so does what a child
/// that it forks says. One at a time in a process.
class ExitGuard {
 public:
  ExitGuard();
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
};

}  // namespace piracema::cluster
