#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ckpt/queue/daemon.h"
#include "sim/scheduler.h"
#include "sim/seeds.h"

namespace piracema::sim {

using namespace ckpt;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

/// A job whose directory lies where all hosts see it.
struct Job {
  Time left{};
  /// One that does not know when its window closes: it is asked to leave.
  bool stream = false;
  /// The close that it has left for, by host.
  std::map<int, Time> left_for;
  /// Of the image that it goes on from.
  bool ended = false;
  int host = -1;
  Time since{};
  /// Of the daemon that began it.
  std::uint64_t life = 0;
  /// Each stay on a host: what is meant for an earlier one comes to nothing.
  std::uint64_t stay = 0;
};

/// What all hosts share, and counts what happened.
struct Site {
  explicit Site(std::uint64_t seed) : scheduler(seed) {}
  Scheduler scheduler;
  std::map<std::string, Job> jobs;
  int left_in_time = 0, streams_in_time = 0, killed = 0, daemons_killed = 0;
};

/// A machine with its user, its windows, and a daemon that somebody kills now and then.
class Host {
 public:
  Host(Site& site, int number) : site_(site), number_(number) {
    start_daemon();
    user_comes_and_goes();
    window_opens();
    site_.scheduler.after(site_.scheduler.between(minutes(1), hours(10)),
                          [this] { kill_daemon(); });
  }

 private:
  Scheduler& clock() { return site_.scheduler; }
  bool chance(double p) { return clock().random().chance(p); }

  void start_daemon() {
    life_ += 1;
    daemon_ = std::make_unique<Daemon>(settings_);
    look(life_);
  }
  // kill -9; keepers hear of it and save their jobs, or do not.
  void kill_daemon() {
    site_.daemons_killed += 1;
    daemon_.reset();
    life_ += 1;
    for (auto& [name, job] : site_.jobs) {
      if (job.host == number_) leave(name, clock().now() + seconds(30), true);
      // The next one knows nothing of it.
      job.left_for.erase(number_);
    }
    clock().after(clock().between(seconds(1), minutes(20)), [this] { start_daemon(); });
    clock().after(clock().between(hours(1), hours(20)), [this] { kill_daemon_if_alive(); });
  }
  void kill_daemon_if_alive() {
    if (daemon_) return kill_daemon();
    clock().after(minutes(30), [this] { kill_daemon_if_alive(); });
  }

  void look(std::uint64_t life) {
    if (life != life_) return;
    tell(UserSeen{user_});
    tell(LentUntil{open_ ? std::optional(closes_) : std::nullopt});
    QueueSeen queue;
    for (const auto& [name, job] : site_.jobs) {
      if (!job.ended) queue.jobs.push_back(name);
    }
    tell(queue);
    clock().after(seconds(5), [this, life] { look(life); });
  }

  void tell(const DaemonEvent& event) {
    if (!daemon_) return;
    for (const DaemonAction& action : daemon_->step(clock().now(), event)) {
      std::visit([this](const auto& a) { act(a); }, action);
    }
    const std::uint64_t turn = ++turns_;
    if (const auto due = daemon_->wake()) {
      clock().at(std::max(*due, clock().now()), [this, turn] {
        if (turn == turns_) tell(DaemonTick{});
      });
    }
  }

  void act(const StartJob& start) {
    Job& job = site_.jobs.at(start.job);
    CHECK_FALSE(user_);
    if (job.host >= 0 || job.ended || chance(0.05)) {
      return later(start.job, milliseconds(50),
                   [this, name = start.job] { left(name, Outcome::failed); });
    }
    // What is left of the window that it has just left would not do for anything.
    if (const auto found = job.left_for.find(number_); start.closes && found != job.left_for.end())
      CHECK(*start.closes > found->second);
    job.host = number_;
    job.life = life_;
    job.since = clock().now();
    const std::uint64_t stay = ++job.stay;
    clock().after(job.left, [this, name = start.job, stay] {
      Job& one = site_.jobs.at(name);
      if (one.stay != stay || one.host != number_) return;
      one.ended = true;
      one.host = -1;
      left(name, Outcome::ended);
    });
    if (!start.closes) return;
    if (!job.stream) return leave(start.job, *start.closes, false);
    later(start.job, Time{}, [this, name = start.job, stay] {
      if (site_.jobs.at(name).stay == stay) tell(LeavingTakes{name, seconds(9), milliseconds(10)});
    });
  }
  // By itself at a known close, else at once; it saves the job in time, or hangs.
  void leave(const std::string& name, Time by, bool now) {
    Job& job = site_.jobs.at(name);
    const Time takes = clock().between(milliseconds(100), seconds(8));
    const Time at = now ? clock().now() + takes : by - takes / 8;
    if (chance(0.2) && daemon_) return;
    clock().at(std::max(at, clock().now()), [this, name, stay = job.stay] {
      Job& one = site_.jobs.at(name);
      if (one.stay != stay || one.host != number_) return;
      one.left -= std::min(one.left, clock().now() - one.since);
      one.host = -1;
      one.stay += 1;
      site_.left_in_time += 1;
      site_.streams_in_time += one.stream ? 1 : 0;
      // A user may have sent it away, and then it may come back.
      if (!user_ && open_ && clock().now() < closes_ && one.life == life_)
        one.left_for[number_] = closes_;
      left(name, Outcome::stopped);
    });
  }
  void act(const LeaveJob& order) {
    if (site_.jobs.at(order.job).host == number_) leave(order.job, order.by, true);
  }
  void act(const KillJob& kill) {
    Job& job = site_.jobs.at(kill.job);
    if (job.host != number_) return;
    site_.killed += 1;
    job.host = -1;
    job.stay += 1;
    later(kill.job, milliseconds(5), [this, name = kill.job] { left(name, Outcome::stopped); });
  }
  void left(const std::string& name, Outcome outcome) { tell(JobLeft{name, outcome}); }
  void later(const std::string&, Time delay, std::function<void()> what) {
    clock().after(delay, [life = life_, this, what = std::move(what)] {
      if (life == life_) what();
    });
  }

  bool has_jobs() const {
    for (const auto& [name, job] : site_.jobs) {
      if (job.host == number_) return true;
    }
    return false;
  }

  void user_comes_and_goes() {
    clock().after(clock().between(minutes(1), hours(9)), [this] {
      user_ = true;
      const std::uint64_t visit = ++visits_, life = life_;
      tell(UserSeen{true});
      // What was promised; a daemon that died meanwhile promises nothing.
      clock().after(settings_.lending.grace + milliseconds(1), [this, visit, life] {
        if (visit == visits_ && life == life_ && daemon_) CHECK_FALSE(has_jobs());
      });
      clock().after(clock().between(minutes(1), hours(3)), [this] {
        user_ = false;
        visits_ += 1;
        tell(UserSeen{false});
        user_comes_and_goes();
      });
    });
  }
  void window_opens() {
    clock().after(clock().between(minutes(1), hours(12)), [this] {
      open_ = true;
      closes_ = clock().now() + clock().between(minutes(1), hours(10));
      tell(LentUntil{closes_});
      clock().at(closes_ + milliseconds(1), [this, life = life_] {
        open_ = false;
        if (life == life_ && daemon_ && !settings_.lending.when_idle) CHECK_FALSE(has_jobs());
        tell(LentUntil{std::nullopt});
        window_opens();
      });
    });
  }

  Site& site_;
  const int number_;
  const DaemonSettings settings_{.slots = 2, .lending = {.when_idle = number_ % 2 == 1}};
  std::unique_ptr<Daemon> daemon_;
  std::uint64_t life_ = 0, turns_ = 0, visits_ = 0;
  bool user_ = false, open_ = false;
  Time closes_{};
};

}  // namespace

TEST_CASE(
    "whatever users, windows and killed daemons do, users have their machines in time and every "
    "job "
    "ends") {
  int runs = 0, left = 0, streams = 0, killed = 0, daemons = 0;
  for (const auto seed : seeds(100)) {
    runs += 1;
    Site site(seed);
    for (int i = 0; i < 6; ++i) {
      Job& job = site.jobs["job-" + std::to_string(i)];
      job.left = site.scheduler.between(minutes(10), hours(4));
      job.stream = i % 3 == 2;
    }
    Host a(site, 0), b(site, 1), c(site, 2);
    const auto all_ended = [&] {
      for (const auto& [name, job] : site.jobs) {
        if (!job.ended) return false;
      }
      return true;
    };
    site.scheduler.run_until(all_ended, hours(24 * 365));
    CHECK(all_ended());
    left += site.left_in_time;
    streams += site.streams_in_time;
    killed += site.killed;
    daemons += site.daemons_killed;
  }
  // Fewer seeds, as with sanitizers, see less of each.
  CHECK(left > runs);
  CHECK(streams > runs);
  CHECK(killed > runs / 10);
  CHECK(daemons > runs);
}

}  // namespace piracema::sim
