#include "jobs/placement.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace piracema::jobs {

namespace {

/// A node that can take jobs, as this placement goes on.
struct Room {
  const Node* node = nullptr;
  std::uint32_t free = 0;
  /// Of an older job, which waits for more of it.
  std::optional<JobId> kept_for;
};

bool may_run(const Job& job, const Node& node) {
  return (job.spec.node.empty() || job.spec.node == node.name) && node.slots >= job.spec.slots;
}

std::string what_is_there(const Job& job, const std::map<std::string, Node>& nodes) {
  const Node* largest = nullptr;
  for (const auto& [name, node] : nodes) {
    if (!job.spec.node.empty() && job.spec.node != name) continue;
    if (largest == nullptr || node.slots > largest->slots) largest = &node;
  }
  if (largest == nullptr && !job.spec.node.empty()) {
    return concat("waits for the node ", job.spec.node, ", which has never been there");
  }
  if (largest == nullptr) return "waits for a node: there is none";
  if (largest->slots < job.spec.slots) {
    return concat("waits for a node of ", job.spec.slots, " slots: the largest is ", largest->name,
                  " with ", largest->slots);
  }
  return concat("waits for a node of ", job.spec.slots, " slots that is there: ", largest->name,
                largest->alive ? " is draining" : " is not heard of");
}

}  // namespace

std::vector<Placed> place(std::map<JobId, Job>& jobs, const std::map<std::string, Node>& nodes) {
  std::vector<Room> rooms;
  for (const auto& [name, node] : nodes) {
    if (!node.alive || node.draining || node.leaving) continue;
    rooms.push_back({&node, node.slots - std::min(node.slots, node.used), std::nullopt});
  }
  std::vector<Placed> placed;
  for (auto& [id, job] : jobs) {
    if (job.state != JobState::waiting) continue;
    Room* best = nullptr;
    bool any = false;
    for (Room& room : rooms) {
      if (!may_run(job, *room.node)) continue;
      any = true;
      if (room.kept_for) continue;
      if (best == nullptr || room.free > best->free) best = &room;
    }
    if (best != nullptr && best->free >= job.spec.slots) {
      best->free -= job.spec.slots;
      placed.push_back({id, best->node->name});
    } else if (best != nullptr) {
      best->kept_for = id;
      job.why = concat("waits for ", job.spec.slots, job.spec.slots == 1 ? " slot" : " slots", ": ",
                       best->node->name, " has ", best->free, " of ", best->node->slots,
                       " free, and is kept for it");
    } else if (any) {
      job.why = "waits for jobs that were there before it";
    } else {
      job.why = what_is_there(job, nodes);
    }
  }
  return placed;
}

}  // namespace piracema::jobs
