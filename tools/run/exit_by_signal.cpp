#include "tools/run/exit_by_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "os/exit_code.h"

namespace piracema::tools {

namespace {

constexpr int none = -1;
std::atomic<int> code_of_job{none};
static_assert(std::atomic<int>::is_always_lock_free);

void end(int number) {
  const int code = code_of_job;
  ::_exit(code == none ? exit_code_of_signal(number) : code);
}

}  // namespace

void ExitBySignal::begin() {
  struct sigaction ends {};
  ends.sa_handler = end;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    // Who has started this process with nohup, or in the background of a script, wants it so.
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &ends, nullptr);
  }
}

void ExitBySignal::hold() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int number : {SIGINT, SIGTERM}) ::sigaddset(&held, number);
  ::pthread_sigmask(SIG_BLOCK, &held, nullptr);
}

void ExitBySignal::use(int job_code) { code_of_job = job_code; }

}  // namespace piracema::tools
