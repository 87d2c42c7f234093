#pragma once

#include <piracema/smr/groups.h>
#include <piracema/smr/state_machine.h>

#include <cstdint>
#include <functional>
#include <span>

#include "wire/checksum.h"

namespace piracema::smr {

/// One operation at its place in the order, and its reply once it was executed.
struct Task {
  /// Somebody else's; must live until `run` has returned.
  Bytes operation;
  Context context;
  /// Where the client put it (paper 003, Algorithm 2); nullopt-like `conflict_all` if nowhere.
  std::uint32_t group = conflict_all;
  /// The client named a group.
  bool grouped = false;
  /// In place of an operation: StateMachine::on_time. Conflicts with all others.
  bool tick = false;
  Buffer reply;
  /// A digest of the reply and of what the operation says to have left behind; never 0.
  std::uint32_t imprint = 0;
};

/// Applies one operation: its reply, and its imprint.
inline void apply(StateMachine& machine, Task& task) {
  if (task.tick) return machine.on_time(task.context);
  std::uint64_t left_behind = 0;
  task.context.left_behind = &left_behind;
  task.reply = machine.apply(task.operation, task.context);
  task.context.left_behind = nullptr;
  const std::uint64_t both = wire::checksum(task.reply) + left_behind * 0x9E3779B97F4A7C15u;
  task.imprint = static_cast<std::uint32_t>(both >> 32) | 1;
}

/// Applies operations that have an order to a state machine: replies and state are those of doing
/// one after the other, however many threads it uses for it. One thread calls it.
class Executor {
 public:
  /// Told of operations whose replies are there, in any order, from any thread, several at a time
  /// if they take short.
  using Done = std::function<void(std::span<Task* const>)>;

  virtual ~Executor() = default;

  /// Returns when all of `tasks` are executed and `done` has returned for each. Unlike in paper
  /// 003, whose queues run on, nothing is under way between two calls: sessions, checkpoints and
  /// reconfigurations need no barrier of their own (its Algorithm 4, lines 20-22).
  virtual void run(std::span<Task> tasks, const Done& done) = 0;
};

}  // namespace piracema::smr
