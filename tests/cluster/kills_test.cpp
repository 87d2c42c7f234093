// Many failures in one run, at random moments. PIRACEMA_KILLS says how many; PIRACEMA_SEED replays
// the choice of who and when, as far as real processes do the same twice.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/random.h>

#include <fstream>
#include <set>

#include "base/random.h"
#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::uint64_t new_seed() {
  std::uint64_t seed = 0;
  REQUIRE(::getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed));
  return seed % 1'000'000;
}

/// Hits workers of a job, none of them twice.
class Fate {
 public:
  Fate(Job& job, std::uint64_t seed) : job_(job), random_(seed) {}

  /// At any time from now on, a recovery that is under way included.
  void wait_a_moment() {
    const Time until = now() + std::chrono::milliseconds(random_.below(120));
    while (now() < until) {
      job_.next_event(std::chrono::ceil<milliseconds>(until - now()));
    }
  }

  /// False if nobody was there.
  bool strike(int signal) {
    auto workers = job_.workers();
    std::erase_if(workers, [this](const Worker& worker) { return hit_.contains(worker.pid); });
    if (workers.empty()) return false;
    const pid_t pid = workers[random_.below(workers.size())].pid;
    hit_.insert(pid);
    return ::kill(pid, signal) == 0;
  }

 private:
  Job& job_;
  Random random_;
  std::set<pid_t> hit_;
};

}  // namespace

TEST_CASE("kills and stops at random moments of one run leave no trace in the output") {
  const std::uint64_t strikes = number_from("PIRACEMA_KILLS", sanitized ? 40 : 200);
  const std::uint64_t seed = number_from("PIRACEMA_SEED", new_seed());
  MESSAGE("PIRACEMA_SEED=", seed, " PIRACEMA_KILLS=", strikes);
  const Stream stream;
  const std::string enough = stream.path("enough");
  // A process under a sanitizer may well be silent for a quarter of a second.
  const std::string heartbeat = sanitized ? "250ms" : "60ms";
  Job job(stream.run({"until=" + enough, "pause_us=150"}, {"--heartbeat", heartbeat}));
  job.wait_for("first_item_out");

  const Time begun = now();
  Fate fate(job, seed);
  for (std::uint64_t done = 0; done < strikes;) {
    fate.wait_a_moment();
    if (!fate.strike(done % 10 == 5 ? SIGSTOP : SIGKILL)) continue;
    done += 1;
    // A job that does not get on is given up. On a machine where a recovery takes longer than all
    // these moments it has to be let get on now and then.
    if (done % 20 == 0) job.wait_for("snapshot");
  }
  MESSAGE(strikes, " strikes within ",
          std::chrono::duration_cast<milliseconds>(now() - begun).count(), " ms");
  // What comes from here on shows that the job is alive.
  job.wait_for("snapshot");
  std::ofstream(enough) << "";

  CHECK(job.wait() == 0);
  CHECK(stream.is_right());
  // Some are hit while they die of another cause.
  CHECK(job.events("lost").size() >= strikes * 9 / 10);
  const Event summary = job.summary();
  CHECK(summary["items"] == lines_of(contents(stream.out)).size());
  MESSAGE(summary["items"], " items, ", summary["recoveries"].size(), " recoveries, ",
          summary["processes_started"], " processes");
}

TEST_CASE("a process that is killed on order is told of, and its items are redone") {
  const Stream stream;
  Job job(
      stream.run({"items=6000", "pause_us=200"}, {"--kill", "chain.1@30", "--kill", "lines@60"}));
  CHECK(job.wait() == 0);
  CHECK(stream.is_right(6'000));
  const Event summary = job.summary();
  CHECK(summary["items"] == 6'000);
  REQUIRE(summary["recoveries"].size() == 2);
  REQUIRE(summary["kills"].size() == 2);
  for (const Event& kill : summary["kills"]) CHECK(kill["kill_to_first_out_ms"].is_number());
}

TEST_CASE("without snapshots a process that is killed ends the job with code 4 and its name") {
  const Stream stream;
  Job job(piracema_run({"-n", "4"}, stream.program({"items=6000", "pause_us=200"})));
  job.wait_for("first_item_out");
  ::kill(job.worker(1).pid, SIGKILL);
  CHECK(job.wait() == 4);
  CHECK(is_in("worker 1", job.errors()));
  CHECK(is_in("SIGKILL", job.errors()));
  CHECK(job.processes().empty());
  CHECK_FALSE(exists(stream.out));
}
