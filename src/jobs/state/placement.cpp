#include "jobs/state/placement.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

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

std::uint64_t closes_ms(const Room& room) {
  const std::uint64_t closes = room.node->closes_ms;
  return closes == 0 ? std::numeric_limits<std::uint64_t>::max() : closes;
}

/// Where most is free; of two with as much, where a job may stay for longer.
bool is_better(const Room* a, const Room* b) {
  return a->free != b->free ? a->free > b->free : closes_ms(*a) > closes_ms(*b);
}

/// What a job would get, of the nodes that may be its own together.
struct Choice {
  /// So many could have it, if they were empty.
  std::size_t right = 0;
  /// No more than it wants, and none that is kept for another job; the best one first.
  std::vector<Room*> best;

  bool can_begin(const JobSpec& spec) const {
    return best.size() == spec.nodes && best.back()->free >= spec.slots;
  }
};

std::string slots_text(std::uint32_t slots) {
  return concat(slots, slots == 1 ? " slot" : " slots");
}

/// It is of the kind that the job has begun on, or that does not matter.
bool is_like(const Job& job, const Node& node) { return job.kind.empty() || node.kind == job.kind; }

bool may_run(const Job& job, const Node& node) {
  const JobSpec& spec = job.spec;
  // Those of a job over several nodes have to reach each other.
  if (spec.nodes > 1 && node.address.empty()) return false;
  return (spec.node.empty() || spec.node == node.name) && node.slots >= spec.slots &&
         is_like(job, node);
}

std::string why_away(const Node& node) {
  if (!node.alive) return "is not heard of";
  if (node.draining || node.leaving) return "is draining";
  if (!node.lent.open) return concat("is not lent now, ", node.lent.why);
  return "has no room in its home";
}

std::string what_is_there(const Job& job, const std::map<std::string, Node>& nodes) {
  const Node* largest = nullptr;
  for (const auto& [name, node] : nodes) {
    if (!job.spec.node.empty() && job.spec.node != name) continue;
    if (!is_like(job, node)) continue;
    if (largest == nullptr || node.slots > largest->slots) largest = &node;
  }
  if (largest == nullptr && !job.spec.node.empty()) {
    return concat("waits for the node ", job.spec.node, ", which is not in the cluster");
  }
  if (largest == nullptr && !job.kind.empty()) {
    return concat("waits for a node like those that it ran on (", job.kind, "): there is none");
  }
  if (largest == nullptr) return "waits for a node: there is none";
  if (largest->slots < job.spec.slots) {
    return concat("waits for a node of ", job.spec.slots, " slots: the largest is ", largest->name,
                  " with ", largest->slots);
  }
  return concat("waits for a node of ", slots_text(job.spec.slots),
                " that is there: ", largest->name, " ", why_away(*largest));
}

// Of those that could take a part of the job, and what keeps each of the others from it. `alike`:
// so many of them may be its own together.
std::string why_not_enough(const JobSpec& spec, std::size_t alike,
                           const std::map<std::string, Node>& nodes) {
  std::size_t right = 0, away = 0, closed = 0, full = 0, small = 0, hidden = 0;
  for (const auto& [name, node] : nodes) {
    std::size_t& count = node.slots < spec.slots         ? small
                         : node.address.empty()          ? hidden
                         : !node.alive                   ? away
                         : node.draining || node.leaving ? away
                         : !node.lent.open               ? closed
                         : node.full                     ? full
                                                         : right;
    count += 1;
  }
  std::string why = concat("waits for ", spec.nodes, " nodes of ", slots_text(spec.slots),
                           " that are there", wants_alike(spec) ? ", and alike" : "", ": there ",
                           alike == 1 ? "is " : "are ", alike);
  if (right > alike) why += concat(", ", right - alike, " of another kind");
  if (away != 0) why += concat(", ", away, " not heard of or draining");
  if (closed != 0) why += concat(", ", closed, " not lent now");
  if (full != 0) why += concat(", ", full, " with a full home");
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
    const bool can = may_run(job, *room.node) && room.free >= job.spec.slots;
    if (can && !lives_on(job, room.node->name)) best.push_back(&room);
  }
  std::stable_sort(best.begin(), best.end(), is_better);
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

/// Nodes that may be a job's together; null: of any kind, of any site.
struct Together {
  const std::string* kind = nullptr;
  const std::string* site = nullptr;

  bool has(const Node& node) const {
    return (kind == nullptr || node.kind == *kind) && (site == nullptr || node.site == *site);
  }
};

Choice choose_of(const Job& job, std::vector<Room>& rooms, const Together& together) {
  Choice choice;
  for (Room& room : rooms) {
    if (!may_run(job, *room.node) || !together.has(*room.node)) continue;
    choice.right += 1;
    if (!room.kept_for) choice.best.push_back(&room);
  }
  std::stable_sort(choice.best.begin(), choice.best.end(), is_better);
  choice.best.resize(std::min<std::size_t>(choice.best.size(), job.spec.nodes));
  return choice;
}

// Machines with fast links between them, if it can begin there at once (paper 002, section 3); a
// stream that follows its nodes may want them apart, and would not stay on one site anyway.
Choice choose_near(const Job& job, std::vector<Room>& rooms, const std::string* kind) {
  std::set<std::string> sites;
  for (const Room& room : rooms) sites.insert(room.node->site);
  Choice best;
  if (sites.size() > 1 && job.spec.nodes > 1 && !follows_nodes(job.spec)) {
    for (const std::string& site : sites) {
      Choice one = choose_of(job, rooms, {kind, &site});
      if (!one.can_begin(job.spec)) continue;
      if (best.best.empty() || is_better(one.best.back(), best.best.back())) best = std::move(one);
    }
  }
  return best.best.empty() ? choose_of(job, rooms, {kind, nullptr}) : best;
}

// Of machines that are homogeneous (paper 002, section 3), those of the kind that has most for it.
Choice choose(const Job& job, std::vector<Room>& rooms) {
  if (!wants_alike(job.spec)) return choose_near(job, rooms, nullptr);
  std::set<std::string> kinds;
  for (const Room& room : rooms) kinds.insert(room.node->kind);
  const auto worth = [&](const Choice& one) {
    return std::tuple(one.can_begin(job.spec), one.best.size(), one.right);
  };
  Choice best;
  for (const std::string& kind : kinds) {
    Choice one = choose_near(job, rooms, &kind);
    if (worth(one) > worth(best)) best = std::move(one);
  }
  return best;
}

}  // namespace

std::vector<Placed> place(std::map<JobId, Job>& jobs, const std::map<std::string, Node>& nodes) {
  std::vector<Room> rooms;
  for (const auto& [name, node] : nodes) {
    if (!takes_jobs(node)) continue;
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
    const Choice choice = choose(job, rooms);
    if (choice.right < spec.nodes) {
      job.why =
          spec.nodes == 1 ? what_is_there(job, nodes) : why_not_enough(spec, choice.right, nodes);
      continue;
    }
    if (choice.best.size() < spec.nodes) {
      job.why = "waits for jobs that were there before it";
      continue;
    }
    if (!choice.can_begin(spec)) {
      for (Room* room : choice.best) room->kept_for = id;
      job.why = why_waits(spec, choice.best);
      continue;
    }
    placed.push_back({id, {}});
    for (Room* room : choice.best) {
      room->free -= spec.slots;
      placed.back().nodes.push_back(room->node->name);
    }
  }
  return placed;
}

}  // namespace piracema::jobs
