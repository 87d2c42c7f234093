#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"

/// What becomes of a job when its command has ended, or one of its nodes is lost: it goes on with
/// the next node, or is over or begins anew once its parts have ended, too. What is no failure of
/// its own does not count as one. What happens is told to a history. Pure.
namespace piracema::jobs {

/// A job that has lost its node so often fails: it may be what brings them down.
constexpr std::uint32_t losses_max = 20;

/// The command of a job that runs has ended so.
void command_ended(Job& job, const Ended& end, const std::map<std::string, Node>& nodes,
                   std::uint64_t now_ms, History& history);
/// Nothing is alive on that node any more; of the job's parts there `lose_parts` has told.
void node_lost(Job& job, const std::string& node, const std::map<std::string, Node>& nodes,
               const std::string& why, History& history);
/// From now on, if its command can: it follows its nodes, and that one is not the first.
bool does_without(Job& job, const std::string& node);

/// Of this attempt, on its first node.
void happened(Event::Kind kind, const Job& job, const std::string& why, History& history);

}  // namespace piracema::jobs
