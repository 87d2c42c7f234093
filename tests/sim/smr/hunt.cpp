#include "sim/smr/hunt.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <deque>

#include "base/ensure.h"
#include "base/text.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

namespace {

struct Hunt {
  const Planted* mistake = nullptr;
  pid_t process = 0;
  int result = -1;
};

/// What there is to complain about in a run; empty if nothing.
std::string complaint_about(const Plan& plan) {
  World world(plan);
  return world.run() ? "" : world.oracle().complaints().front();
}

/// Exits with 0 if it is found.
[[noreturn]] void hunt(const Planted& mistake, int result) {
  std::string told;
  bool reached = false;
  for (std::uint64_t seed = 1; seed <= mistake.seeds && told.empty(); ++seed) {
    const Plan plan = mistake.plan(seed);
    std::string complaint;
    {
      const Mutant on(mistake.name);
      complaint = complaint_about(plan);
      reached = reached || Mutant::reached();
    }
    if (complaint.empty() || !complaint_about(plan).empty()) continue;
    told = concat("seed ", seed, ": ", complaint);
  }
  if (told.empty()) told = reached ? "not found" : "not even reached";
  static_cast<void>(!write(result, told.data(), told.size()));
  // Nothing of the program's is to happen a second time.
  _exit(told.starts_with("seed") ? 0 : 1);
}

Hunt begin(const Planted& mistake) {
  int ends[2];
  ENSURE(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t process = fork();
  ENSURE(process >= 0);
  if (process == 0) {
    // What ENSURE says is expected here, and its end too: no handler of a test's tells of it.
    signal(SIGABRT, SIG_DFL);
    static_cast<void>(!freopen("/dev/null", "w", stderr));
    // A mistake may take all the memory or time that there is.
    const rlimit memory{1u << 30, 1u << 30}, time{60, 60};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CPU, &time);
    hunt(mistake, ends[1]);
  }
  close(ends[1]);
  return {&mistake, process, ends[0]};
}

Trail end(const Hunt& hunt) {
  std::string told(400, '\0');
  const auto length = read(hunt.result, told.data(), told.size());
  told.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  close(hunt.result);
  int status = 0;
  ENSURE(waitpid(hunt.process, &status, 0) == hunt.process);
  const bool ensured = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  if (ensured) told = "an ENSURE fails";
  std::printf("%-24s %s\n", hunt.mistake->name, told.c_str());
  std::fflush(stdout);
  return {hunt.mistake, ensured || (WIFEXITED(status) && WEXITSTATUS(status) == 0), told};
}

}  // namespace

// Two at a time: the machines that this has to be quick on have two cores.
std::vector<Trail> hunt_all(std::span<const Planted> mistakes) {
  std::vector<Trail> trails;
  std::deque<Hunt> under_way;
  const auto end_first = [&] {
    trails.push_back(end(under_way.front()));
    under_way.pop_front();
  };
  for (const Planted& mistake : mistakes) {
    if (under_way.size() == 2) end_first();
    under_way.push_back(begin(mistake));
  }
  while (!under_way.empty()) end_first();
  return trails;
}

}  // namespace piracema::smr_sim
