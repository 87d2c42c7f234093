#include "smr/service/executor/conflict_graph.h"

#include <algorithm>

namespace piracema::smr {

void ConflictGraph::build(std::span<const Task> tasks, const StateMachine& machine) {
  nodes_.assign(tasks.size(), Node{});
  edges_.clear();
  readers_.clear();
  users_.clear();
  barrier_ = none;
  since_barrier_.clear();
  levels_.clear();
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    const Keys keys = tasks[i].tick ? Keys{{}, {}, true} : machine.keys(tasks[i].operation);
    if (keys.all) {
      add_barrier(i);
    } else {
      if (barrier_ != none) order(barrier_, i);
      add_reads(i, keys.reads);
      add_writes(i, keys.writes);
      since_barrier_.push_back(i);
    }
    const std::uint32_t level = nodes_[i].level;
    if (level == levels_.size()) levels_.push_back(0);
    levels_[level] += 1;
  }
}

// Waits for all since the last one of its kind; what comes later waits for it and need not know
// what was before.
void ConflictGraph::add_barrier(std::uint32_t task) {
  if (since_barrier_.empty() && barrier_ != none) order(barrier_, task);
  for (const std::uint32_t before : since_barrier_) order(before, task);
  since_barrier_.clear();
  users_.clear();
  barrier_ = task;
}

void ConflictGraph::add_reads(std::uint32_t task, std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) {
    Users& users = users_.at(key);
    if (users.writer != none) order(users.writer, task);
    readers_.push_back({task, users.readers});
    users.readers = static_cast<std::uint32_t>(readers_.size() - 1);
  }
}

void ConflictGraph::add_writes(std::uint32_t task, std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) {
    Users& users = users_.at(key);
    if (users.writer == task) continue;
    // Those who have read since the last writer wait for it themselves.
    if (users.readers == none && users.writer != none) order(users.writer, task);
    for (auto reader = users.readers; reader != none; reader = readers_[reader].next) {
      if (readers_[reader].task != task) order(readers_[reader].task, task);
    }
    users = {task, none};
  }
}

void ConflictGraph::order(std::uint32_t before, std::uint32_t after) {
  edges_.push_back({after, nodes_[before].edge});
  nodes_[before].edge = static_cast<std::uint32_t>(edges_.size() - 1);
  nodes_[after].waits += 1;
  nodes_[after].level = std::max(nodes_[after].level, nodes_[before].level + 1);
}

Prospect ConflictGraph::prospect(unsigned threads) const {
  Prospect prospect;
  std::uint32_t before = 1;
  for (const std::uint32_t count : levels_) {
    prospect.steps += (count + threads - 1) / threads;
    // A thread goes on with what waited for it alone; else somebody waits for somebody.
    if (count > 1 || before > 1) prospect.handovers += 1;
    before = count;
  }
  return prospect;
}

std::size_t ConflictGraph::width() const {
  return levels_.empty() ? 0 : *std::max_element(levels_.begin(), levels_.end());
}

}  // namespace piracema::smr
