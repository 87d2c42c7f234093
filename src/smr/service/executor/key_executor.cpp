#include "smr/service/executor/key_executor.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::smr {

KeyExecutor::KeyExecutor(StateMachine& machine, unsigned threads, const Prices& prices)
    : machine_(machine),
      team_(threads),
      thrift_(prices),
      sequential_(machine),
      workers_(threads),
      waits_(std::make_unique<std::atomic<std::uint32_t>[]>(window_max)),
      ready_(std::make_unique<std::atomic<std::uint32_t>[]>(window_max)) {}

void KeyExecutor::run(std::span<Task> tasks, const Done& done) {
  for (; tasks.size() > window_max; tasks = tasks.subspan(window_max)) {
    run_window(tasks.first(window_max), done);
  }
  run_window(tasks, done);
}

void KeyExecutor::run_window(std::span<Task> tasks, const Done& done) {
  if (team_.size() == 1 || !thrift_.may_pay(tasks.size())) {
    return sequential_.run(tasks, done, thrift_);
  }
  const Time start = now();
  graph_.build(tasks, machine_);
  if (!thrift_.pays(tasks.size(), graph_.prospect(team_.at_once()))) {
    return sequential_.run(tasks, done, thrift_);
  }
  prepare(tasks.size());
  const auto count = static_cast<unsigned>(std::min<std::size_t>(team_.size(), graph_.width()));
  team_.run(count, false, [&](unsigned number) { work(workers_[number], tasks, done); });
  Time busy{0};
  for (Worker& worker : workers_) {
    ENSURE(worker.finished.empty());
    busy += std::exchange(worker.busy, Time{0});
  }
  thrift_.learn_together(tasks.size(), now() - start, busy);
}

void KeyExecutor::prepare(std::size_t count) {
  ready_head_ = 0;
  ready_tail_ = 0;
  left_ = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    ready_[i].store(0, std::memory_order_relaxed);
    waits_[i].store(graph_.waits(i), std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (graph_.waits(i) == 0) offer(i);
  }
}

void KeyExecutor::work(Worker& worker, std::span<Task> tasks, const Done& done) {
  for (;;) {
    const std::uint32_t task = take(worker, done);
    if (task == ConflictGraph::none) return;
    execute_chain(worker, task, tasks, done);
  }
}

void KeyExecutor::execute_chain(Worker& worker, std::uint32_t task, std::span<Task> tasks,
                                const Done& done) {
  const std::size_t at_once = thrift_.flush_count();
  Time start = now();
  while (task != ConflictGraph::none) {
    Task& current = tasks[task];
    apply(machine_, current);
    worker.finished.push_back(&current);
    task = release_successors(task);
    if (worker.finished.size() >= at_once) {
      worker.busy += now() - start;
      flush(worker, done);
      start = now();
    }
  }
  worker.busy += now() - start;
}

std::uint32_t KeyExecutor::release_successors(std::uint32_t task) {
  std::uint32_t next = ConflictGraph::none;
  graph_.for_each_successor(task, [&](std::uint32_t successor) {
    if (waits_[successor].fetch_sub(1) != 1) return;
    if (next == ConflictGraph::none) {
      next = successor;
    } else {
      offer(successor);
    }
  });
  if (left_.fetch_sub(1) == 1) bell_.ring_all();
  return next;
}

void KeyExecutor::offer(std::uint32_t task) {
  ready_[ready_tail_.fetch_add(1)] = task + 1;
  bell_.ring_one();
}

std::uint32_t KeyExecutor::take(Worker& worker, const Done& done) {
  for (;;) {
    std::uint32_t head = ready_head_;
    if (head < ready_tail_) {
      if (!ready_head_.compare_exchange_weak(head, head + 1)) continue;
      std::uint32_t task = ready_[head];
      for (; task == 0; task = ready_[head]) std::this_thread::yield();
      return task - 1;
    }
    flush(worker, done);
    if (left_ == 0) return ConflictGraph::none;
    bell_.wait(team_.turns_at_work(), [this] { return ready_head_ < ready_tail_ || left_ == 0; });
  }
}

void KeyExecutor::flush(Worker& worker, const Done& done) {
  if (worker.finished.empty()) return;
  done(worker.finished);
  worker.finished.clear();
}

}  // namespace piracema::smr
