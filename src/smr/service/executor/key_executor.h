#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "smr/service/executor/conflict_graph.h"
#include "smr/service/executor/sequential_executor.h"
#include "smr/service/executor/team.h"

namespace piracema::smr {

/// Executes at the same time what does not conflict by StateMachine::keys; the default. The groups
/// that clients name do not matter to it.
///
/// A window of operations becomes a ConflictGraph. A thread that has executed one goes on with the
/// first that waited for it alone and leaves the others to who is free: a run of conflicts stays
/// on one thread. Windows that would not gain are executed on the caller's thread.
class KeyExecutor final : public Executor {
 public:
  /// Longer runs are cut, so that memory is bounded.
  static constexpr std::size_t window_max = 1'024;

  KeyExecutor(StateMachine& machine, unsigned threads, const Prices& prices = {});

  void run(std::span<Task> tasks, const Done& done) override;

 private:
  /// What one thread keeps for itself in a window.
  struct alignas(64) Worker {
    std::vector<Task*> finished;
    Time busy{0};
  };

  void run_window(std::span<Task> tasks, const Done& done);
  void prepare(std::size_t count);
  void work(Worker& worker, std::span<Task> tasks, const Done& done);
  void execute_chain(Worker& worker, std::uint32_t task, std::span<Task> tasks, const Done& done);
  /// Returns one that waited for `task` alone, to go on with; none if there is none.
  std::uint32_t release_successors(std::uint32_t task);
  void offer(std::uint32_t task);
  /// Waits for an operation that may be executed; none when all are.
  std::uint32_t take(Worker& worker, const Done& done);
  void flush(Worker& worker, const Done& done);

  StateMachine& machine_;
  Team team_;
  Thrift thrift_;
  SequentialExecutor sequential_;
  ConflictGraph graph_;
  std::vector<Worker> workers_;

  // ---- of one window, shared by the threads
  std::unique_ptr<std::atomic<std::uint32_t>[]> waits_;
  /// What may be executed, as task + 1; 0 where it is still being written.
  std::unique_ptr<std::atomic<std::uint32_t>[]> ready_;
  std::atomic<std::uint32_t> ready_head_{0}, ready_tail_{0};
  std::atomic<std::size_t> left_{0};
  Doorbell bell_;
};

}  // namespace piracema::smr
