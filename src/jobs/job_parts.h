#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/operations.h"

/// The parts of one job: what its command has run on the job's other nodes, and what users have run
/// beside it. They end no job and begin none. Pure.
namespace piracema::jobs {

/// So many parts a job may have at a time for each of its nodes.
constexpr std::size_t parts_max = 8;
/// So many users may have run beside a job at a time; as many that have ended are remembered.
constexpr std::size_t beside_max = 4;

/// In that attempt, on that node, and maybe alive; or null.
Part* find_part(Job& job, const Attempt& attempt, const std::string& node);
/// The node is lost: none of them lives.
void lose_parts(Job& job, const std::string& node, const std::string& why);
/// Parts that nobody wants any more, and that the node does not have in this report. Whether there
/// were any.
bool parts_gone(Job& job, const Report& report);
inline bool may_have_parts_alive(const Job& job) {
  for (const auto& [number, part] : job.parts) {
    if (!part.ended) return true;
  }
  return false;
}

struct Followed {
  bool changed = false;
  /// Parts that have ended, or were refused, and of which the command is told.
  std::vector<Ended> gone;
};
/// The command wants this. A part that it asked for before is not begun anew.
Followed ask_for(Job& job, const AskedPart& asked, const std::map<std::string, Node>& nodes);
/// Of the parts that it has asked for the command still wants these.
Followed follow_wants(Job& job, const std::vector<Attempt>& wants);

/// A user wants this beside the command. The line says why not.
std::optional<std::string> run_beside(Job& job, const std::vector<std::string>& command);

}  // namespace piracema::jobs
