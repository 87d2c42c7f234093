#pragma once

#include <vector>

#include "smr/service/executor/executor.h"
#include "smr/service/executor/thrift.h"

namespace piracema::smr {

/// One operation after the other on the caller's thread (paper 003, section 2: what replicas did
/// before), and what the parallel executors do when threads would not pay.
class SequentialExecutor final : public Executor {
 public:
  explicit SequentialExecutor(StateMachine& machine) : machine_(machine), thrift_(Prices{}) {}

  void run(std::span<Task> tasks, const Done& done) override { run(tasks, done, thrift_); }
  /// Tells `thrift` what it took.
  void run(std::span<Task> tasks, const Done& done, Thrift& thrift);

 private:
  StateMachine& machine_;
  Thrift thrift_;
  std::vector<Task*> finished_;
};

}  // namespace piracema::smr
