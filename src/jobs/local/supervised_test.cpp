#include "jobs/local/supervised.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/testing.h"
#include "os/process_state.h"

using namespace piracema;
using namespace piracema::jobs;
using std::chrono::seconds;

namespace {

/// A folder for a job, and what is left behind there.
struct Place {
  piracema::testing::ScratchDirectory folder;
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }

  Supervised start(const std::string& script, Time until = now() + seconds(300), int niceness = 0) {
    auto started = Supervised::start({.attempt = {7, 2},
                                      .command = {"/bin/sh", "-c", script},
                                      .environment = {"GREETING=hello"},
                                      .directory = path("here"),
                                      .log = path("log"),
                                      .until = until,
                                      .niceness = niceness,
                                      .supervisor = {SUPERVISOR}});
    REQUIRE(started.ok());
    return *std::move(started);
  }
  std::string log() const {
    std::ostringstream all;
    all << std::ifstream(path("log")).rdbuf();
    return all.str();
  }
  /// Of a file that a job writes.
  std::string wait_for(const std::string& name) const {
    std::string text;
    while (text.empty() || text.back() != '\n') {
      std::ostringstream all;
      all << std::ifstream(path("here/" + name)).rdbuf();
      text = all.str();
      ::usleep(1'000);
    }
    text.pop_back();
    return text;
  }
};

Ended end_of(Supervised& job) {
  while (true) {
    pollfd watched{job.handle(), POLLIN, 0};
    REQUIRE(::poll(&watched, 1, 60'000) == 1);
    if (auto ended = job.take_end()) return *ended;
  }
}

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("a job that is over has left no process behind, as a node runs thousands") {
  Place place;
  {
    auto job = place.start("exit 3");
    CHECK(end_of(job).code == 3);
  }
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a supervisor does not have the environment of its job") {
  Place place;
  auto job =
      place.start("cat /proc/$PPID/environ > supervisor; echo $GREETING; echo >> supervisor");
  CHECK(end_of(job).code == 0);
  CHECK(place.log() == "hello\n");
  CHECK(place.wait_for("supervisor").find("GREETING") == std::string::npos);
}

TEST_CASE("a job gives way to other programs where it is to, and its supervisor does not") {
  Place place;
  auto job = place.start("nice > nice; sleep 300", now() + seconds(300), 19);
  const int own = ::getpriority(PRIO_PROCESS, 0);
  CHECK(place.wait_for("nice") == std::to_string(std::min(own + 19, 19)));
  CHECK(::getpriority(PRIO_PROCESS, static_cast<id_t>(job.pid())) == own);
  job.terminate(true);
  CHECK(end_of(job).code == 128 + SIGKILL);
}

TEST_CASE("a job runs in its directory, and says how it ended") {
  Place place;
  Supervised job = place.start("echo $GREETING; pwd; echo trouble >&2; exit 3");
  const Ended ended = end_of(job);
  CHECK(ended.attempt == Attempt{7, 2});
  CHECK(ended.end == End::exited);
  CHECK(ended.code == 3);
  CHECK(ended.why == "ended with status 3");
  CHECK(place.log() == "hello\n" + place.path("here") + "\ntrouble\n");
}

TEST_CASE("a job that is asked to leave may take its time, and one that is ended may not") {
  Place place;
  Supervised job =
      place.start("trap 'echo saved; exit 75' TERM; echo $$ > up; while :; do sleep 0.01; done");
  place.wait_for("up");
  job.terminate(false);
  CHECK(end_of(job).code == 75);
  CHECK(piracema::testing::contains(place.log(), "saved"));
  Place other;
  Supervised deaf = other.start("trap '' TERM; echo $$ > up; while :; do sleep 0.01; done");
  other.wait_for("up");
  deaf.terminate(false);
  deaf.terminate(true);
  CHECK(end_of(deaf).code == 137);
}

TEST_CASE("all of a job stands still when it is to, and goes on; its supervisor does not") {
  Place place;
  Supervised job = place.start(
      "setsid sh -c 'echo $$ > child; while :; do :; done' & echo $$ > up; while :; do :; done");
  const pid_t first = std::stoi(place.wait_for("up")), child = std::stoi(place.wait_for("child"));
  job.suspend(false);
  for (const pid_t pid : {first, child}) {
    while (!cluster::state_of(pid).stopped) ::usleep(1'000);
  }
  CHECK_FALSE(cluster::state_of(job.pid()).stopped);
  job.resume();
  for (const pid_t pid : {first, child}) {
    while (cluster::state_of(pid).stopped) ::usleep(1'000);
  }
  // Whoever else lets it go on is no match.
  job.suspend(false);
  while (!cluster::state_of(first).stopped) ::usleep(1'000);
  ::kill(first, SIGCONT);
  while (!cluster::state_of(first).stopped) ::usleep(1'000);
  job.terminate(true);
  CHECK(end_of(job).code == 137);
  CHECK_FALSE(is_alive(child));
}

TEST_CASE("a job that stands still ends as one that runs: asked to, and when nobody is there") {
  Place place;
  const char* const script = "trap 'echo saved; exit 75' TERM; echo $$ > up; while :; do :; done";
  SUBCASE("it is asked to leave") {
    Supervised job = place.start(script);
    const pid_t pid = std::stoi(place.wait_for("up"));
    job.suspend(false);
    while (!cluster::state_of(pid).stopped) ::usleep(1'000);
    job.terminate(false);
    CHECK(end_of(job).code == 75);
    CHECK(piracema::testing::contains(place.log(), "saved"));
  }
  SUBCASE("whoever has started it is gone") {
    pid_t pid = 0;
    {
      Supervised job = place.start(script);
      pid = std::stoi(place.wait_for("up"));
      job.suspend(false);
      while (!cluster::state_of(pid).stopped) ::usleep(1'000);
    }
    while (is_alive(pid)) ::usleep(1'000);
  }
  SUBCASE("nobody says any longer that it may live") {
    Supervised job = place.start("exec sleep 600", now() + seconds(1));
    job.suspend(false);
    // Its supervisor ends after all of it.
    CHECK(end_of(job).end == End::fenced);
  }
}

TEST_CASE("a job that stands still by itself is told so, and told to go on") {
  Place place;
  Supervised job = place.start(
      "trap 'echo still' TSTP; trap 'echo on' CONT; trap 'exit 75' TERM; echo $$ > up; "
      "while :; do sleep 0.01; done");
  place.wait_for("up");
  const auto said = [&](const std::string& text) {
    while (!piracema::testing::contains(place.log(), text)) ::usleep(1'000);
  };
  job.suspend(true);
  said("still");
  job.resume();
  said("on");
  job.suspend(true);
  said("still\non\nstill");
  job.terminate(false);
  CHECK(end_of(job).code == 75);
}

TEST_CASE("nothing that a job has started outlives it, in whatever session it is") {
  Place place;
  Supervised job = place.start(
      "setsid sh -c 'echo $$ > child; exec sleep 600' & while [ ! -s child ]; do sleep 0.01; done");
  CHECK(end_of(job).code == 0);
  CHECK_FALSE(is_alive(std::stoi(place.wait_for("child"))));
}

TEST_CASE("a job ends when nobody says any longer that it may live") {
  Place place;
  Supervised job =
      place.start("echo $$ > up; exec sleep 600", now() + std::chrono::milliseconds(500));
  const pid_t pid = std::stoi(place.wait_for("up"));
  const Ended ended = end_of(job);
  CHECK(ended.end == End::fenced);
  CHECK_FALSE(is_alive(pid));
}

TEST_CASE("a job that may not live any more is not begun") {
  Place place;
  Supervised job = place.start("echo here", now());
  CHECK(end_of(job).end == End::fenced);
  CHECK(place.log().empty());
}

TEST_CASE("a job that is said to may live does") {
  Place place;
  const Time begun = now();
  Supervised job = place.start("sleep 0.6; echo done", now() + std::chrono::milliseconds(300));
  job.extend(begun + seconds(300));
  CHECK(end_of(job).end == End::exited);
  CHECK(place.log() == "done\n");
}

TEST_CASE("a job ends when whoever has started it is gone") {
  Place place;
  pid_t pid = 0;
  {
    const Supervised job = place.start("echo $$ > up; exec sleep 600");
    pid = std::stoi(place.wait_for("up"));
  }
  while (is_alive(pid)) ::usleep(1'000);
}

TEST_CASE("a program that is not there is no job") {
  Place place;
  auto started = Supervised::start({.attempt = {1, 1},
                                    .command = {"no-such-program"},
                                    .environment = {},
                                    .directory = place.path("here"),
                                    .log = place.path("log"),
                                    .until = now() + seconds(300),
                                    .supervisor = {SUPERVISOR}});
  REQUIRE(started.ok());
  const Ended ended = end_of(*started);
  CHECK(ended.end == End::not_started);
  CHECK(ended.why.find("no-such-program") != std::string::npos);
}
