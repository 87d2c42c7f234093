#include "store/disk/file_lock.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/testing.h"

namespace piracema::store {

using namespace testing;

namespace {

/// Who has begun a process and was killed, while that one still has the lock.
class LeftToAChild {
 public:
  explicit LeftToAChild(const std::string& path) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    locker_ = ::fork();
    if (locker_ == 0) {
      const auto lock = lock_file(path, "test");
      const pid_t child = ::fork();
      if (child == 0) {
        while (true) ::pause();
      }
      (void)!::write(ends[1], &child, sizeof child);
      ::_exit(lock ? 0 : 1);
    }
    REQUIRE(::read(ends[0], &child_, sizeof child_) == sizeof child_);
    int status = 0;
    ::waitpid(locker_, &status, 0);
    CHECK(status == 0);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~LeftToAChild() { end(); }

  pid_t locker() const { return locker_; }
  pid_t child() const { return child_; }
  void end() const { ::kill(child_, SIGKILL); }

 private:
  pid_t locker_ = 0, child_ = 0;
};

}  // namespace

TEST_CASE("the lock of a process that was killed is had once what it had begun has let it go") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/lock";
  const LeftToAChild left(path);
  // It ends while it is waited for.
  const pid_t ender = ::fork();
  if (ender == 0) {
    ::usleep(100'000);
    left.end();
    ::_exit(0);
  }
  CHECK(lock_file(path, "test"));
  ::waitpid(ender, nullptr, 0);
}

TEST_CASE("a lock that the child of an ended process keeps is refused in bounded time") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/lock";
  const LeftToAChild left(path);
  const Time start = now();
  const auto lock = lock_file(path, "test");
  CHECK(now() - start < std::chrono::seconds(60));
  REQUIRE_FALSE(lock);
  CHECK(lock.error().code == Errc::refused);
  CHECK(lock.error().message.find("found it in use by process " + std::to_string(left.locker())) !=
        std::string::npos);
}

}  // namespace piracema::store
