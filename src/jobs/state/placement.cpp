#include "jobs/state/placement.h"

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

std::string slots_text(std::uint32_t slots) {
  return concat(slots, slots == 1 ? " slot" : " slots");
}

bool may_run(const JobSpec& spec, const Node& node) {
  // Those of a job over several nodes have to reach each other.
  if (spec.nodes > 1 && node.address.empty()) return false;
  return (spec.node.empty() || spec.node == node.name) && node.slots >= spec.slots;
}

/// Jobs may begin there.
bool is_there(const Node& node) { return node.alive && !is_to_be_left(node); }

std::string why_away(const Node& node) {
  if (!node.alive) return "is not heard of";
  if (node.draining || node.leaving) return "is draining";
  return concat("is not lent now, ", node.lent.why);
}

std::string what_is_there(const Job& job, const std::map<std::string, Node>& nodes) {
  const Node* largest = nullptr;
  for (const auto& [name, node] : nodes) {
    if (!job.spec.node.empty() && job.spec.node != name) continue;
    if (largest == nullptr || node.slots > largest->slots) largest = &node;
  }
  if (largest == nullptr && !job.spec.node.empty()) {
    return concat("waits for the node ", job.spec.node, ", which is not in the cluster");
  }
  if (largest == nullptr) return "waits for a node: there is none";
  if (largest->slots < job.spec.slots) {
    return concat("waits for a node of ", job.spec.slots, " slots: the largest is ", largest->name,
                  " with ", largest->slots);
  }
  return concat("waits for a node of ", slots_text(job.spec.slots),
                " that is there: ", largest->name, " ", why_away(*largest));
}

// Of those that could take a part of the job, and what keeps each of the others from it.
std::string why_not_enough(const JobSpec& spec, const std::map<std::string, Node>& nodes) {
  std::uint32_t right = 0, away = 0, closed = 0, small = 0, hidden = 0;
  for (const auto& [name, node] : nodes) {
    std::uint32_t& count = node.slots < spec.slots         ? small
                           : node.address.empty()          ? hidden
                           : !node.alive                   ? away
                           : node.draining || node.leaving ? away
                           : !node.lent.open               ? closed
                                                           : right;
    count += 1;
  }
  std::string why = concat("waits for ", spec.nodes, " nodes of ", slots_text(spec.slots),
                           " that are there: there ", right == 1 ? "is " : "are ", right);
  if (away != 0) why += concat(", ", away, " not heard of or draining");
  if (closed != 0) why += concat(", ", closed, " not lent now");
  if (small != 0) why += concat(", ", small, " smaller");
  if (hidden != 0) why += concat(", ", hidden, " without an address");
  return why;
}

std::string why_waits(const JobSpec& spec, const std::vector<Room*>& best) {
  const Room& last = *best.back();
  const std::string has =
      concat(last.node->name, " has ", last.free, " of ", last.node->slots, " free");
  if (spec.nodes == 1) {
    return concat("waits for ", slots_text(spec.slots), ": ", has, ", and is kept for it");
  }
  return concat("waits for ", slots_text(spec.slots), " of each of ", spec.nodes, " nodes: ", has,
                ", and ", spec.nodes, " nodes are kept for it");
}

void fill_up(Job& job, bool leaves_first, std::vector<Room>& rooms, std::vector<Placed>& placed) {
  const std::string leaves = leaves_first ? concat("leaves ", job.node) : "";
  const std::size_t has = job.others.size() + (leaves_first ? 0 : 1);
  if (has == job.spec.nodes) {
    job.why = leaves;
    return;
  }
  std::vector<Room*> best;
  for (Room& room : rooms) {
    const bool can = may_run(job.spec, *room.node) && room.free >= job.spec.slots;
    if (can && !lives_on(job, room.node->name)) best.push_back(&room);
  }
  std::stable_sort(best.begin(), best.end(),
                   [](const Room* a, const Room* b) { return a->free > b->free; });
  best.resize(std::min<std::size_t>(best.size(), job.spec.nodes - has));
  const std::size_t will_have = has + best.size();
  job.why =
      will_have == job.spec.nodes
          ? leaves
          : concat(leaves, leaves_first ? ", " : "", "runs on ", will_have, " of ", job.spec.nodes,
                   " nodes, and waits for ", slots_text(job.spec.slots), " of another one");
  if (best.empty()) return;
  placed.push_back({job.id, {}});
  for (Room* room : best) {
    room->free -= job.spec.slots;
    placed.back().nodes.push_back(room->node->name);
  }
}

}  // namespace

std::vector<Placed> place(std::map<JobId, Job>& jobs, const std::map<std::string, Node>& nodes) {
  std::vector<Room> rooms;
  for (const auto& [name, node] : nodes) {
    if (!is_there(node)) continue;
    rooms.push_back({&node, node.slots - std::min(node.slots, node.used), std::nullopt});
  }
  std::vector<Placed> placed;
  for (auto& [id, job] : jobs) {
    if (job.state == JobState::running && follows_nodes(job.spec)) {
      fill_up(job, hands_over(job, nodes), rooms, placed);
    }
  }
  for (auto& [id, job] : jobs) {
    if (job.state != JobState::waiting || pauses(job)) continue;
    const JobSpec& spec = job.spec;
    std::vector<Room*> best;
    std::size_t right = 0;
    for (Room& room : rooms) {
      if (!may_run(spec, *room.node)) continue;
      right += 1;
      if (!room.kept_for) best.push_back(&room);
    }
    if (right < spec.nodes) {
      job.why = spec.nodes == 1 ? what_is_there(job, nodes) : why_not_enough(spec, nodes);
      continue;
    }
    if (best.size() < spec.nodes) {
      job.why = "waits for jobs that were there before it";
      continue;
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Room* a, const Room* b) { return a->free > b->free; });
    best.resize(spec.nodes);
    if (best.back()->free < spec.slots) {
      for (Room* room : best) room->kept_for = id;
      job.why = why_waits(spec, best);
      continue;
    }
    placed.push_back({id, {}});
    for (Room* room : best) {
      room->free -= spec.slots;
      placed.back().nodes.push_back(room->node->name);
    }
  }
  return placed;
}

}  // namespace piracema::jobs
