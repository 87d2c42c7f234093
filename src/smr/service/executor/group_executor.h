#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "smr/service/executor/group_check.h"
#include "smr/service/executor/groups.h"
#include "smr/service/executor/sequential_executor.h"
#include "smr/service/executor/team.h"

namespace piracema::smr {

/// Paper 003, Algorithms 3 and 4: a queue for each thread, requests go into the queues of the
/// threads of their group, and where those are several, the lowest of them executes while the
/// others wait.
///
/// Where we differ: requests of one group that follow each other share one pair of barriers;
/// windows that would not gain are executed on the caller's thread; and labels are checked
/// (GroupCheck), unless `trust_clients`.
class GroupExecutor final : public Executor {
 public:
  static constexpr std::size_t window_max = 1'024;

  /// With `trust_clients` a mislabelled operation makes replicas differ, as in the paper; without
  /// it no label can. Requests without a group are then CONFLICT_ALL; else they are checked like
  /// CONFLICT_NONE.
  GroupExecutor(StateMachine& machine, Groups groups, bool trust_clients,
                const Prices& prices = {});

  void run(std::span<Task> tasks, const Done& done) override;

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;
  /// Requests that several threads come together for.
  struct Meeting {
    std::uint64_t threads = 0;
    /// The requests, a list in `next_`.
    std::uint32_t first = none, last = none;
    /// Of all threads but the executing one.
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<bool> over{false};
    Doorbell all_here, ended;
  };
  /// In a thread's queue.
  struct Entry {
    /// A request, or a meeting.
    std::uint32_t number;
    bool is_meeting;
  };
  struct alignas(64) Worker {
    std::vector<Entry> queue;
    std::vector<Task*> finished;
    Time busy{0};
    /// When it would be done with its queue, in operations.
    std::size_t steps = 0;
  };

  void run_window(std::span<Task> tasks, const Done& done);
  Prospect distribute(std::span<const Task> tasks);
  std::uint64_t threads_for(const Task& task);
  void enqueue(std::uint32_t task, std::uint64_t threads);
  Meeting* last_meeting_of(std::uint64_t threads);
  void work(unsigned number, std::span<Task> tasks, const Done& done);
  void meet(unsigned number, Meeting& meeting, std::span<Task> tasks, const Done& done);
  void execute(Worker& worker, Task& task, const Done& done);
  void flush(Worker& worker, const Done& done);

  StateMachine& machine_;
  const Groups groups_;
  const bool trust_clients_;
  Team team_;
  Thrift thrift_;
  SequentialExecutor sequential_;
  GroupCheck check_;
  std::vector<Worker> workers_;
  /// For requests without conflict, in turns (Algorithm 3, line 26).
  unsigned next_thread_ = 0;

  std::vector<std::uint32_t> next_;
  std::unique_ptr<Meeting[]> meetings_;
  std::uint32_t meeting_count_ = 0;
};

}  // namespace piracema::smr
