// A machine on which everybody else computes: nobody who crashes only is given up because of it,
// and a leader that really dies is replaced. Where one may lie, a slow machine looks like a leader
// that does so on purpose: each other one may be tried once (smr/order/leader/leader_rate.h),
// and no more.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "cluster/smr/crowd.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// Processes that compute without end, several for each core.
class Others {
 public:
  Others() {
    const pid_t parent = ::getpid();
    for (unsigned i = 0; i < 4 * std::max(2u, std::thread::hardware_concurrency()); ++i) {
      const pid_t pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(0);
        volatile unsigned work = 0;
        while (work == 0) {
        }
      }
      pids_.push_back(pid);
    }
  }
  ~Others() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> pids_;
};

void live_among_others(bool byzantine) {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.byzantine = byzantine,
                                     .durable = false,
                                     .directory = folder.path(),
                                     .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const Others others;
  Crowd crowd(*group, 2);
  REQUIRE(crowd.wait_for(20));
  auto leader = crowd.leader();
  REQUIRE(leader.has_value());
  int replaced = 0;
  const auto end = std::chrono::steady_clock::now() + seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    REQUIRE(crowd.wait_for(1));
    if (crowd.leader() == leader) continue;
    leader = crowd.leader();
    REQUIRE(leader.has_value());
    ++replaced;
    REQUIRE(replaced <= (byzantine ? 3 : 0));
  }
  const auto killed = std::chrono::steady_clock::now();
  REQUIRE(group->kill(*leader).ok());
  REQUIRE(crowd.wait_for(3));  // Two may have been answered before.
  const auto took = std::chrono::steady_clock::now() - killed;
  CHECK(group->ended().empty());
  crowd.stop();
  CHECK(check(crowd.operations()).is == Verdict::Is::linearizable);
  MESSAGE(crowd.answered(), " answered; the leader was replaced in ",
          std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), " ms");
}

}  // namespace

TEST_CASE("a busy machine costs no leader its place for long, and a leader that dies is replaced") {
  SUBCASE("three that crash") { live_among_others(false); }
  SUBCASE("four of which one may lie") { live_among_others(true); }
}
