#include "ckpt/capsule/guard.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace piracema::ckpt {

using std::chrono::hours;
using std::chrono::milliseconds;

namespace {

/// A process that does nothing until it is killed.
struct Sleeper {
  Sleeper() {
    pid = ::fork();
    if (pid == 0) {
      for (;;) ::pause();
    }
    handle = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
  ~Sleeper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  bool ends_within(int ms) const {
    pollfd wait{handle.get(), POLLIN, 0};
    return ::poll(&wait, 1, ms) == 1;
  }

  pid_t pid = 0;
  Fd handle;
};

}  // namespace

TEST_CASE("a process is killed at its time, and not before") {
  auto guard = Guard::start();
  REQUIRE(guard.ok());
  const Sleeper sleeper;
  const Time when = now() + milliseconds(200);
  guard->kill_at(sleeper.handle.get(), when);
  CHECK(sleeper.ends_within(60'000));
  CHECK(now() >= when);
}

TEST_CASE("the last word counts, and a process that is forgotten lives") {
  auto guard = Guard::start();
  REQUIRE(guard.ok());
  const Sleeper spared, forgotten, killed;
  guard->kill_at(spared.handle.get(), now() + hours(1));
  guard->kill_at(forgotten.handle.get(), now() + hours(1));
  guard->forget();
  guard->kill_at(killed.handle.get(), now());
  CHECK(killed.ends_within(60'000));
  CHECK_FALSE(spared.ends_within(0));
  CHECK_FALSE(forgotten.ends_within(0));
}

TEST_CASE("a guard whose keeper has ended kills nobody") {
  const Sleeper sleeper;
  {
    auto guard = Guard::start();
    REQUIRE(guard.ok());
    guard->kill_at(sleeper.handle.get(), now() + milliseconds(1'000));
  }
  CHECK_FALSE(sleeper.ends_within(1'300));
}

}  // namespace piracema::ckpt
