#include "os/exit_guard.h"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/ensure.h"
#include "base/log.h"

namespace piracema::cluster {

namespace {

/// The process whose job is under way; 0: none.
std::atomic<pid_t> guarded{0};

// No destructor of the program has run yet: they are not for threads that are at work. What is
// printed is written, as by `exit`, which takes no locks for it either.
void on_exit_called(int status, void*) {
  if (status != 0 || guarded.load() != ::getpid()) return;
  log(Level::error, "the program called exit(0) in the middle of its job: nothing is finished");
  ::fflush_unlocked(stdout);
  ::_exit(1);
}

// What was registered last is called first, before all that was there when the job began.
void watch_exit() {
  ENSURE(::on_exit(on_exit_called, nullptr) == 0);
  ENSURE(std::at_quick_exit([] { on_exit_called(0, nullptr); }) == 0);
}

}  // namespace

ExitGuard::ExitGuard() {
  static const bool watched = (watch_exit(), true);
  (void)watched;
  guarded.store(::getpid());
}

ExitGuard::~ExitGuard() { guarded.store(0); }

}  // namespace piracema::cluster
