#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"

/// The parts of one job: what its command, or another part, has run on the job's nodes, and what
/// users have run beside it. They end no job and begin none. Pure.
namespace piracema::jobs {

/// So many parts a job may have at a time for each of its nodes.
constexpr std::size_t parts_max = 8;
/// So many users may have run beside a job at a time; as many that have ended are remembered.
constexpr std::size_t beside_max = 4;

/// Nothing of that part is alive any more. Whether it may have been.
bool end_part(Job& job, const Ended& end, const std::string& node);
/// Something of the newest attempt may live there, which may ask for parts.
bool takes_part(const Job& job, const std::string& node);
/// The node is lost: none of them lives there, and who has asked for others there is gone.
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
  /// Parts that have ended, or were refused, and of which whoever has asked for them is told.
  std::vector<Ended> gone;
};
/// Somebody on the node `asker` wants this. A part that was asked for there before is not begun
/// anew.
Followed ask_for(Job& job, const std::string& asker, const AskedPart& asked,
                 const std::map<std::string, Node>& nodes);
/// Of the parts that were asked for there these are still wanted. Others end; or live on by
/// themselves where the job outlives its first node, as what asks for parts there may be lost or
/// leave, and what it has asked for is to stay.
Followed follow_wants(Job& job, const std::string& asker, const std::vector<Attempt>& wants);

/// A user wants this beside the command. The line says why not.
std::optional<std::string> run_beside(Job& job, const std::vector<std::string>& command);

}  // namespace piracema::jobs
