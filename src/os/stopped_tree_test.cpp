#include "os/stopped_tree.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/testing.h"
#include "os/process.h"
#include "os/process_state.h"
#include "os/process_tree.h"

using namespace piracema;
using namespace piracema::ckpt;

namespace {

/// Or will before it does anything else: the shell waits for a child that has yet to become sleep.
bool stands_still(pid_t pid) {
  const cluster::ProcessState state = cluster::state_of(pid);
  return state.stopped || state.blocked;
}

void stop_all(StoppedTree& tree) {
  while (!tree.stop()) ::usleep(1'000);
}

/// What a shell does below a process that is not to be stopped.
struct Job {
  piracema::testing::ScratchDirectory folder;
  cluster::Process process;

  explicit Job(const std::string& script)
      : process(*cluster::Process::start(
            {.command = {"/bin/sh", "-c", "cd " + folder.path() + "; (" + script + ") & wait"}})) {}
  ~Job() {
    for (const pid_t pid : below()) ::kill(pid, SIGKILL);
  }
  std::vector<pid_t> below() const {
    std::vector<pid_t> all;
    for (const auto& one : tree_of(all_processes(), process.pid())) {
      if (one.pid != process.pid()) all.push_back(one.pid);
    }
    return all;
  }
  pid_t wait_for(const std::string& name) const {
    pid_t pid = 0;
    while (!(std::ifstream(folder.path() + "/" + name) >> pid)) ::usleep(1'000);
    return pid;
  }
};

}  // namespace

TEST_CASE("all that descends from a process stands still, itself left out, and goes on") {
  Job job(
      "sh -c 'echo $$ > deep; while :; do :; done' & echo $$ > up; while :; do sleep 0.01; done");
  job.wait_for("up");
  const pid_t deep = job.wait_for("deep");
  StoppedTree tree(job.process.pid());
  stop_all(tree);
  const auto below = job.below();
  CHECK(below.size() >= 2);
  for (const pid_t pid : below) CHECK(stands_still(pid));
  CHECK_FALSE(cluster::state_of(job.process.pid()).stopped);
  CHECK(tree.stop());
  tree.go_on();
  for (const pid_t pid : job.below()) CHECK_FALSE(cluster::state_of(pid).stopped);
  CHECK_FALSE(cluster::state_of(deep).stopped);
}

TEST_CASE("one that makes others without an end stands still") {
  Job job("echo $$ > up; while :; do (sleep 0.001; sleep 0.001) & sleep 0.001; done");
  job.wait_for("up");
  StoppedTree tree(job.process.pid());
  stop_all(tree);
  const auto below = job.below();
  for (const pid_t pid : below) CHECK(stands_still(pid));
  CHECK(job.below() == below);
}

TEST_CASE("what was stopped before stays so") {
  Job job("sh -c 'echo $$ > still; kill -STOP $$; sleep 600' & while :; do sleep 0.01; done");
  const pid_t still = job.wait_for("still");
  while (!cluster::state_of(still).stopped) ::usleep(1'000);
  StoppedTree tree(job.process.pid());
  stop_all(tree);
  tree.go_on();
  CHECK(cluster::state_of(still).stopped);
}
