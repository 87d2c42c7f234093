#include "ckpt/queue/daemon_history.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::seconds;

namespace {

/// A daemon and its history, which hear the same; its machine is lent until second 100.
struct HostWithHistory {
  explicit HostWithHistory(std::size_t slots = 1)
      : daemon({.slots = slots}), history("here", "/queue", slots, Time{}) {
    see({"1", "2"});
    tell(LentUntil{seconds(100)});
  }
  void tell(const DaemonEvent& event, Time at = {}) {
    time = std::max(time, at);
    history.heard(time, event, daemon.step(time, event));
  }
  void see(const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, QueuedJob>> jobs;
    for (const std::string& name : names) {
      jobs.emplace_back(name, QueuedJob{.command = {"app", name}, .directory = "/jobs/" + name});
    }
    history.looked(jobs);
    tell(QueueSeen{names});
  }
  DaemonFigures figures() const { return history.figures(time, daemon); }

  Time time{};
  Daemon daemon;
  DaemonHistory history;
};

}  // namespace

TEST_CASE("a lent machine is shown with what runs on it and what waits") {
  HostWithHistory host;
  const auto figures = host.figures();
  CHECK(figures.lent);
  CHECK(figures.closes == Time(seconds(100)));
  CHECK(figures.running == 1);
  CHECK(figures.waiting == 1);
  REQUIRE(figures.jobs.size() == 2);
  CHECK(figures.jobs[0].runs);
  CHECK(figures.jobs[0].command == std::vector<std::string>{"app", "1"});
  CHECK(figures.jobs[0].directory == "/jobs/1");
  CHECK(figures.jobs[0].gone_by == Time(seconds(100)));
  CHECK_FALSE(figures.jobs[1].runs);
  CHECK(figures.started == 1);
}

TEST_CASE("a job that leaves as its user is back is shown with how long that took") {
  HostWithHistory host;
  host.tell(UserSeen{true}, seconds(20));
  auto figures = host.figures();
  CHECK_FALSE(figures.lent);
  CHECK(figures.user_is_there);
  CHECK(figures.jobs[0].leaves);
  CHECK(figures.jobs[0].gone_by == Time(seconds(30)));
  host.tell(JobLeft{"1", Outcome::stopped}, seconds(23));
  figures = host.figures();
  CHECK(figures.running == 0);
  CHECK(figures.waiting == 2);
  REQUIRE(figures.left.size() == 1);
  CHECK(figures.left[0].job == "1");
  CHECK(figures.left[0].outcome == Outcome::stopped);
  CHECK(figures.left[0].ran == Time(seconds(23)));
  CHECK(figures.left[0].took == Time(seconds(3)));
  CHECK(figures.left[0].given == Time(seconds(10)));
  CHECK(figures.outcomes == std::vector<std::uint64_t>{0, 1, 0, 0});
}

TEST_CASE("a job that does not leave is killed, which is counted") {
  HostWithHistory host;
  host.tell(UserSeen{true}, seconds(20));
  host.tell(DaemonTick{}, seconds(30));
  CHECK(host.figures().killed == 1);
  CHECK(host.figures().jobs[0].killed);
  host.tell(JobLeft{"1", Outcome::died}, seconds(31));
  CHECK(host.figures().outcomes[static_cast<std::size_t>(Outcome::died)] == 1);
}

TEST_CASE("a job that could not be begun is shown with when it is tried again") {
  HostWithHistory host;
  host.tell(JobLeft{"1", Outcome::failed}, seconds(1));
  const auto figures = host.figures();
  CHECK_FALSE(figures.jobs[0].runs);
  CHECK(figures.jobs[0].failures == 1);
  CHECK(figures.jobs[0].not_before == Time(seconds(16)));
  CHECK_FALSE(figures.left[0].took);
  CHECK(figures.jobs[1].runs);
}

TEST_CASE("the first jobs are shown, all are counted, and of those that left the newest are kept") {
  HostWithHistory host;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(std::to_string(1'000 + i));
  host.see(names);
  CHECK(host.figures().jobs.size() == DaemonHistory::jobs_shown);
  CHECK(host.figures().waiting == 299);
  for (int i = 0; i < 300; ++i) host.tell(JobLeft{i == 0 ? "1" : names[i - 1], Outcome::ended});
  CHECK(host.figures().left.size() == DaemonHistory::left_kept);
  CHECK(host.figures().left.back().job == names[298]);
  CHECK(host.figures().outcomes[0] == 300);
}

}  // namespace piracema::ckpt
