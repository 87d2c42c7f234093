#include "smr/service/executor/group_executor.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace piracema::smr {

namespace {

template <class Visit>
void for_each_thread(std::uint64_t threads, const Visit& visit) {
  for (; threads != 0; threads &= threads - 1) {
    visit(static_cast<unsigned>(std::countr_zero(threads)));
  }
}

}  // namespace

GroupExecutor::GroupExecutor(StateMachine& machine, Groups groups, bool trust_clients,
                             const Prices& prices)
    : machine_(machine),
      groups_(std::move(groups)),
      trust_clients_(trust_clients),
      team_(groups_.threads()),
      thrift_(prices),
      sequential_(machine),
      workers_(groups_.threads()),
      meetings_(std::make_unique<Meeting[]>(window_max)) {}

void GroupExecutor::run(std::span<Task> tasks, const Done& done) {
  for (; tasks.size() > window_max; tasks = tasks.subspan(window_max)) {
    run_window(tasks.first(window_max), done);
  }
  run_window(tasks, done);
}

void GroupExecutor::run_window(std::span<Task> tasks, const Done& done) {
  const Time start = now();
  if (team_.size() == 1 || !thrift_.may_pay(tasks.size()) ||
      !thrift_.pays(tasks.size(), distribute(tasks))) {
    return sequential_.run(tasks, done, thrift_);
  }
  team_.run(team_.size(), true, [&](unsigned number) { work(number, tasks, done); });
  Time busy{0};
  for (Worker& worker : workers_) busy += std::exchange(worker.busy, Time{0});
  thrift_.learn_together(tasks.size(), now() - start, busy);
}

// Algorithm 3, lines 21-42. Reconfigurations (lines 40-48) never get here: nothing is executed
// while the core changes the view.
Prospect GroupExecutor::distribute(std::span<const Task> tasks) {
  for (Worker& worker : workers_) {
    worker.queue.clear();
    worker.steps = 0;
  }
  next_.assign(tasks.size(), none);
  meeting_count_ = 0;
  check_.clear();
  for (std::uint32_t i = 0; i < tasks.size(); ++i) enqueue(i, threads_for(tasks[i]));

  Prospect prospect;
  for (const Worker& worker : workers_) prospect.steps = std::max(prospect.steps, worker.steps);
  // With fewer cores than threads these share them.
  if (team_.at_once() < team_.size()) {
    prospect.steps =
        std::max(prospect.steps, (tasks.size() + team_.at_once() - 1) / team_.at_once());
  }
  prospect.handovers = 2 * meeting_count_;
  return prospect;
}

std::uint64_t GroupExecutor::threads_for(const Task& task) {
  if (task.tick) {
    check_.clear();
    return groups_.all();
  }
  const std::uint32_t unnamed = trust_clients_ ? conflict_all : conflict_none;
  const std::uint32_t group = task.grouped ? task.group : unnamed;
  std::uint64_t threads = 0;
  if (group == conflict_none) {
    threads = std::uint64_t{1} << next_thread_;
    next_thread_ = (next_thread_ + 1) % groups_.threads();
  } else {
    threads = groups_.threads_of(group);
  }
  if (trust_clients_) return threads;
  return check_.widen(machine_.keys(task.operation), threads, groups_.all());
}

void GroupExecutor::enqueue(std::uint32_t task, std::uint64_t threads) {
  if (std::has_single_bit(threads)) {
    Worker& worker = workers_[static_cast<unsigned>(std::countr_zero(threads))];
    worker.queue.push_back({task, false});
    worker.steps += 1;
    return;
  }
  Meeting* meeting = last_meeting_of(threads);
  if (meeting == nullptr) {
    meeting = &meetings_[meeting_count_];
    meeting->threads = threads;
    meeting->first = none;
    meeting->arrived = 0;
    meeting->over = false;
    for_each_thread(threads, [&](unsigned t) {
      workers_[t].queue.push_back({meeting_count_, true});
    });
    meeting_count_ += 1;
  }
  if (meeting->first == none) {
    meeting->first = task;
  } else {
    next_[meeting->last] = task;
  }
  meeting->last = task;
  std::size_t steps = 0;
  for_each_thread(threads, [&](unsigned t) { steps = std::max(steps, workers_[t].steps); });
  for_each_thread(threads, [&](unsigned t) { workers_[t].steps = steps + 1; });
}

// The one that all of these threads, and no other, have come together for last and not left since.
GroupExecutor::Meeting* GroupExecutor::last_meeting_of(std::uint64_t threads) {
  if (meeting_count_ == 0) return nullptr;
  const std::uint32_t number = [&]() -> std::uint32_t {
    const auto& queue = workers_[static_cast<unsigned>(std::countr_zero(threads))].queue;
    return queue.empty() || !queue.back().is_meeting ? none : queue.back().number;
  }();
  if (number == none || meetings_[number].threads != threads) return nullptr;
  bool still_there = true;
  for_each_thread(threads, [&](unsigned t) {
    const Entry& last = workers_[t].queue.back();
    still_there = still_there && last.is_meeting && last.number == number;
  });
  return still_there ? &meetings_[number] : nullptr;
}

// Algorithm 4, lines 13-35.
void GroupExecutor::work(unsigned number, std::span<Task> tasks, const Done& done) {
  Worker& worker = workers_[number];
  for (const Entry& entry : worker.queue) {
    if (entry.is_meeting) {
      meet(number, meetings_[entry.number], tasks, done);
    } else {
      execute(worker, tasks[entry.number], done);
    }
  }
  flush(worker, done);
}

// Lines 23-33: two barriers in the paper, two words here. The scheduling thread puts all requests
// into the queues in one order, so two meetings are in one order in all of them: no deadlock.
void GroupExecutor::meet(unsigned number, Meeting& meeting, std::span<Task> tasks,
                         const Done& done) {
  Worker& worker = workers_[number];
  flush(worker, done);
  const auto others = static_cast<std::uint32_t>(std::popcount(meeting.threads) - 1);
  if (static_cast<int>(number) != std::countr_zero(meeting.threads)) {
    if (meeting.arrived.fetch_add(1) + 1 == others) meeting.all_here.ring_one();
    meeting.ended.wait(team_.turns_at_work(), [&] { return meeting.over.load(); });
    return;
  }
  meeting.all_here.wait(team_.turns_at_work(), [&] { return meeting.arrived == others; });
  for (auto task = meeting.first; task != none; task = next_[task]) {
    execute(worker, tasks[task], done);
  }
  meeting.over = true;
  meeting.ended.ring_all();
}

void GroupExecutor::execute(Worker& worker, Task& task, const Done& done) {
  const Time start = now();
  apply(machine_, task);
  worker.busy += now() - start;
  worker.finished.push_back(&task);
  if (worker.finished.size() >= thrift_.flush_count()) flush(worker, done);
}

void GroupExecutor::flush(Worker& worker, const Done& done) {
  if (worker.finished.empty()) return;
  done(worker.finished);
  worker.finished.clear();
}

}  // namespace piracema::smr
