#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "jobs/protocol/job.h"
#include "sim/scheduler.h"

namespace piracema::sim {

using namespace jobs;

/// What becomes of a job's process: how long it takes, how it ends each time.
struct Fate {
  Time takes{};
  /// It has parts run on other nodes, again and again.
  bool spans = false;
  /// It cannot do without any of them.
  bool needs_all = false;
  /// It goes on when its first node is lost or left, and its parts ask for others.
  bool outlives = false;
  std::uint32_t fails = 0;
  /// It wants its machines to be of one kind.
  bool alike = false;
  /// It stands still while a user is at its machine, before it leaves.
  bool stands = false;
  /// When it is asked to leave; none: it does not listen.
  std::optional<Time> leaves_after;
};

/// Planted, to see that it is found.
enum class Mistake {
  none,
  /// A node says that it has nothing of a part as soon as it was told to end it.
  says_too_early,
  /// A node whose home is full gives its jobs away, as one that is not lent any more.
  leaves_when_full,
  /// What stands still is not let go on when the user goes.
  never_resumes,
};

/// Which attempts live, wherever. Of a job never two, and of an attempt nothing twice.
struct Register {
  void begins(const std::string& node, const Attempt& attempt) {
    auto& all = alive[attempt.job];
    for (const auto& [where, other] : all) {
      const bool is_other = other.attempt == attempt.attempt && other.part != attempt.part;
      if (!is_other) broken += 1;
    }
    all.insert({node, attempt});
    if (is_beside(attempt)) {
      // What a user has asked for once is done once.
      done_twice += beside.insert(attempt).second ? 0 : 1;
    } else {
      parts += attempt.part != 0 ? 1 : 0;
    }
  }

  Mistake mistake = Mistake::none;
  /// Messages come late, or not at all.
  bool loses_messages = true;
  std::uint32_t broken = 0, done_twice = 0, parts = 0, parts_over = 0;
  /// How often a command was told of other nodes, and a part was asked to leave before its command.
  std::uint32_t told = 0, parts_asked = 0;
  /// How often a command left its node to have another one join the job; how often one has joined,
  /// and parts that lived then.
  std::uint32_t handed_over = 0, joined = 0, kept = 0;
  /// Machines that their owners have had back with jobs that ran there when they asked; and those
  /// where something of a job was there still, or began.
  std::uint32_t given_back = 0, late = 0;
  /// How often a command or a part was asked to leave. Commands that lived when the home of their
  /// machine became full, and when it had room again; those that came too late to begin there.
  std::uint32_t asked = 0, stayed = 0, came_too_late = 0;
  /// How often a command stood still as a user had come, and went on as he went in time; those that
  /// ran beside him all the same, and those that stood still without him.
  std::uint32_t suspended = 0, resumed = 0, beside_user = 0, forgotten_still = 0;
  std::map<JobId, Fate> fates;
  std::map<JobId, std::set<std::pair<std::string, Attempt>>> alive;
  /// How often its command has ended badly by itself, and because a part was lost.
  std::map<JobId, std::uint32_t> ends, gave_up;
  std::set<JobId> succeeded;
  /// Kinds of machines that jobs which want one have begun on; and how often they began anew.
  std::map<JobId, std::set<std::string>> kinds;
  std::uint32_t began_alike = 0;
  /// What was run beside commands.
  std::set<Attempt> beside;
};

}  // namespace piracema::sim
