// Runs as many seeds as one likes, on as many cores, and says how fast:
//
//   sim_smr_many_seeds [COUNT [FIRST [PLAN]]]     all plans if none is named; one process a core
//
// A seed that fails is printed with its plan and its complaint; the exit code is 1 then.
// `PIRACEMA_SEED=S sim_smr_many_seeds 1 S PLAN` replays it with its trace.
#define DOCTEST_CONFIG_IMPLEMENT  // The seeds tell doctest of failures; here nobody listens.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "sim/smr/world.h"

namespace piracema::smr_sim {

namespace {

struct Tally {
  std::uint64_t runs = 0, messages = 0, failures = 0;
  /// By the wall, and of processors.
  double seconds = 0, cpu = 0;
};

struct Work {
  std::uint64_t first = 1, count = 1;
  std::string plan;
};

// Every `step`th seed, from the `part`th on.
Tally run(const Work& work, unsigned part, unsigned step) {
  Tally tally;
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t seed = work.first + part; seed < work.first + work.count; seed += step) {
    for (const NamedPlan& plan : all_plans()) {
      if (!work.plan.empty() && work.plan != plan.name) continue;
      World world(plan.make(seed));
      const bool fine = world.run();
      tally.runs += 1;
      tally.messages += world.messages();
      if (fine) continue;
      tally.failures += 1;
      std::printf("%s seed %llu: %s", plan.name, static_cast<unsigned long long>(seed),
                  world.complaints().c_str());
      std::fflush(stdout);
    }
  }
  tally.cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return tally;
}

Tally run_on_all_cores(const Work& work) {
  const unsigned cores = sim::tracing() ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<int> results;
  for (unsigned part = 0; part < cores; ++part) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    if (fork() == 0) {
      const Tally mine = run(work, part, cores);
      _exit(write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1);
    }
    close(ends[1]);
    results.push_back(ends[0]);
  }
  Tally all;
  for (const int result : results) {
    Tally part{.failures = 1};  // Of one that did not come to its end.
    if (read(result, &part, sizeof part) != sizeof part) std::puts("a part has crashed");
    all.runs += part.runs;
    all.messages += part.messages;
    all.failures += part.failures;
    all.cpu += part.cpu;
    all.seconds = std::max(all.seconds, part.seconds);
  }
  while (wait(nullptr) > 0) {
  }
  return all;
}

}  // namespace

}  // namespace piracema::smr_sim

int main(int argc, char** argv) {
  using namespace piracema::smr_sim;
  Work work;
  if (argc > 1) work.count = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) work.first = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) work.plan = argv[3];
  const Tally all = run_on_all_cores(work);
  const auto messages = static_cast<double>(all.messages);
  std::printf("%llu runs, %llu failed; %.1f s; %.0f thousand messages/s, %.0f of a core's second\n",
              static_cast<unsigned long long>(all.runs),
              static_cast<unsigned long long>(all.failures), all.seconds,
              messages / all.seconds / 1e3, messages / all.cpu / 1e3);
  return all.failures == 0 ? 0 : 1;
}
