#pragma once

#include <sys/wait.h>

/// How a process has ended, as a shell says it in one number.
namespace piracema {

/// A process that a signal has ended.
constexpr int exit_code_of_signal(int number) { return 128 + number; }

/// By a wait status (waitpid(2)): the status that it has ended with, or that of the signal.
inline int exit_code_of_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
                                : exit_code_of_signal(WTERMSIG(wait_status));
}

}  // namespace piracema
