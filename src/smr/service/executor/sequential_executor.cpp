#include "smr/service/executor/sequential_executor.h"

namespace piracema::smr {

void SequentialExecutor::run(std::span<Task> tasks, const Done& done, Thrift& thrift) {
  if (tasks.empty()) return;
  const std::size_t at_once = thrift.flush_count();
  const Time start = now();
  Time outside{0};
  finished_.clear();
  for (Task& task : tasks) {
    apply(machine_, task);
    finished_.push_back(&task);
    if (finished_.size() < at_once && &task != &tasks.back()) continue;
    const Time before = now();
    done(finished_);
    outside += now() - before;
    finished_.clear();
  }
  thrift.learn_alone(tasks.size(), now() - start - outside);
}

}  // namespace piracema::smr
