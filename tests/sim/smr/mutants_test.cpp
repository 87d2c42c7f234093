// Would the simulator find a mistake? Mistakes are planted in the code, one at a time, and each has
// to be found within its number of seeds. docs/design/007-proof-of-replication.md has the table.
#include "sim/smr/mutants.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sim/seeds.h"
#include "sim/smr/world.h"

namespace piracema::smr_sim {

namespace {

using smr::FaultModel;

Plan troubled_crash(std::uint64_t seed) { return troubled(seed, FaultModel::crash); }
/// Disks are lost often, and replicas fall behind.
Plan forgetful(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::crash);
  plan.lose_disk = std::chrono::milliseconds(400);
  plan.crash = std::chrono::milliseconds(400);
  return plan;
}
Plan liars_behind(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::byzantine);
  plan.lose_disk = {};
  plan.crash = plan.partition = std::chrono::milliseconds(300);
  plan.liars = plan.f;
  plan.lies = false_chunk;
  return plan;
}
Plan reading(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::crash);
  plan.reads = 0.5;
  plan.partition = std::chrono::milliseconds(400);
  return plan;
}

Plan lossy_crash(std::uint64_t seed) { return lossy(seed, FaultModel::crash); }
Plan splitting(std::uint64_t seed) {
  Plan plan = lying(seed);
  plan.lies = equivocate | double_vote;
  return plan;
}
Plan stuffing(std::uint64_t seed) {
  Plan plan = troubled(seed, FaultModel::byzantine);
  plan.lose_disk = {};
  plan.crash = plan.partition = std::chrono::milliseconds(300);
  plan.liars = plan.f;
  plan.lies = stuff_write_set | old_collects | false_stop | equivocate;
  return plan;
}
Plan forging(std::uint64_t seed) {
  Plan plan = lying(seed);
  plan.lies = forge;
  return plan;
}

/// All lose power at once, and disks are slow: what was said too early is not there any more.
Plan powerless(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::crash);
  plan.power = std::chrono::milliseconds(200);
  plan.sync_most = std::chrono::milliseconds(30);
  return plan;
}
/// Leaders are cut off as soon as there is one.
Plan leaderless(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.trouble_until = std::chrono::seconds(8);
  plan.cut_leader = std::chrono::milliseconds(500);
  plan.crash = std::chrono::milliseconds(150);
  plan.operations = 100;
  return plan;
}
/// The first ones get no proposal through.
Plan mute(std::uint64_t seed) {
  Plan plan = calm(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.mute_regencies = 3;
  return plan;
}
Plan behind_with(std::uint64_t seed, std::uint32_t lies) {
  Plan plan = liars_behind(seed);
  plan.lies = lies;
  return plan;
}
Plan false_states(std::uint64_t seed) { return behind_with(seed, false_state); }
Plan overruling(std::uint64_t seed) { return behind_with(seed, overrule | false_stop); }
Plan proposing_twice(std::uint64_t seed) {
  return behind_with(seed, two_proposals | double_vote | stuff_write_set);
}
Plan telling(std::uint64_t seed) {
  Plan plan = lossy(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  plan.lies = false_decided;
  return plan;
}
Plan running_ahead(std::uint64_t seed) {
  Plan plan = calm(seed, FaultModel::byzantine);
  plan.liars = plan.f;
  plan.lies = fast_clock;
  return plan;
}
Plan rotten_crash(std::uint64_t seed) { return rotten(seed, FaultModel::crash); }
/// One disk of three fails again and again, and all lose power.
Plan refusing(std::uint64_t seed) {
  Plan plan = rotten(seed, FaultModel::crash);
  plan.n = 3;
  plan.f = 1;
  plan.bad_disk = std::chrono::milliseconds(60);
  plan.power = std::chrono::milliseconds(300);
  return plan;
}
Plan rotten_byzantine(std::uint64_t seed) { return rotten(seed, FaultModel::byzantine); }
Plan moving_crash(std::uint64_t seed) { return moving(seed, FaultModel::crash); }
Plan moving_byzantine(std::uint64_t seed) { return moving(seed, FaultModel::byzantine); }
Plan locking_crash(std::uint64_t seed) { return locking(seed, FaultModel::crash); }
Plan hoarding_crash(std::uint64_t seed) { return hoarding(seed, FaultModel::crash); }
Plan hoarding_byzantine(std::uint64_t seed) { return hoarding(seed, FaultModel::byzantine); }
Plan crowded_crash(std::uint64_t seed) { return crowded(seed, FaultModel::crash); }

struct Planted {
  const char* name;
  Plan (*plan)(std::uint64_t seed);
  /// It has to be found by then.
  std::uint64_t seeds;
};

const Planted planted[] = {
    {"decided_before_proposed", lossy_crash, 20},
    {"never_say_again", lossy_crash, 200},
    {"sessions_not_restored", troubled_crash, 20},
    {"accept_quorum_short", lossy_crash, 200},
    {"nothing_is_regency_0", troubled_crash, 50},
    {"bind_nothing", troubled_crash, 200},
    {"propose_over_bound", troubled_crash, 20},
    {"sync_of_too_few", troubled_crash, 200},
    {"write_quorum_short", splitting, 50},
    {"bind_without_writers", stuffing, 20},
    {"unsigned_collects", stuffing, 50},
    {"unchecked_chunk", liars_behind, 50},
    {"clock_goes_back", running_ahead, 50},
    {"send_before_sync", powerless, 20},
    {"accept_before_log", powerless, 50},
    {"forget_regency", leaderless, 400},
    {"vote_over_bound", overruling, 200},
    {"believe_one", telling, 20},
    {"believe_the_clock", running_ahead, 20},
    {"unproven_suffix", liars_behind, 50},
    {"unproven_checkpoint", false_states, 400},
    {"checkpoint_any_digest", false_states, 100},
    {"silent_eviction", crowded_crash, 100},
    {"votes_without_memory", forgetful, 50},
    {"sync_error_ignored", refusing, 100},
    {"fence_ignored", locking_crash, 50},
    {"leases_not_restored", locking_crash, 50},
    {"no_high_water_mark", hoarding_crash, 50},
    {"keep_all_instances", hoarding_byzantine, 20},
};

/// Not found yet, or not looked for long enough: the plans are not mean enough for them.
const Planted sought[] = {
    {"no_dedup", crowded_crash, 400},
    {"enter_alone", troubled_crash, 400},
    {"trust_the_leader", forging, 400},
    {"read_unconfirmed", reading, 400},
    {"checkpoint_small_quorum", false_states, 400},
    {"amnesia_few_answers", forgetful, 400},
    {"amnesia_no_margin", forgetful, 400},
    {"second_proposal", proposing_twice, 400},
    {"proposed_is_gone", mute, 20},
    {"join_late", leaderless, 400},
    {"view_at_once", moving_crash, 400},
    {"view_small_quorum", moving_byzantine, 400},
    {"newcomers_wait", moving_crash, 400},
    {"ask_again_at_once", moving_byzantine, 400},
    {"no_proof_of_checkpoints", rotten_byzantine, 400},
    {"truncate_kinds", rotten_crash, 400},
};

/// In a process of its own, as a mistake may also run into an ENSURE.
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

/// 0 if it is found. Only a seed counts in which nothing is wrong without the mistake.
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
  // Nothing of the test program's is to happen a second time.
  _exit(told.starts_with("seed") ? 0 : 1);
}

Hunt begin(const Planted& mistake) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    // What ENSURE says is expected here.
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

void end(const Hunt& hunt) {
  std::string told(400, '\0');
  const auto length = read(hunt.result, told.data(), told.size());
  told.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  close(hunt.result);
  int status = 0;
  REQUIRE(waitpid(hunt.process, &status, 0) == hunt.process);
  const bool ensured = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  if (ensured) told = "an ENSURE fails";
  std::printf("%-24s %s\n", hunt.mistake->name, told.c_str());
  std::fflush(stdout);
  INFO(hunt.mistake->name, " within ", hunt.mistake->seeds, " seeds: ", told);
  CHECK((ensured || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
}

// Two at a time: the machines that this has to be quick on have two cores.
void hunt_all(std::span<const Planted> mistakes) {
  std::deque<Hunt> under_way;
  for (const Planted& mistake : mistakes) {
    if (under_way.size() == 2) {
      end(under_way.front());
      under_way.pop_front();
    }
    under_way.push_back(begin(mistake));
  }
  for (const Hunt& hunt : under_way) end(hunt);
}

}  // namespace

TEST_CASE("every planted mistake is found within its number of seeds") { hunt_all(planted); }

// Run it with --no-skip; what it finds belongs into the gate.
TEST_CASE("mistakes that the simulator does not find yet" * doctest::skip()) { hunt_all(sought); }

}  // namespace piracema::smr_sim
