#pragma once

#include <piracema/smr/state_machine.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "loop/poller.h"
#include "smr/service/service.h"
#include "smr/service/service_thread.h"

namespace piracema::smr {

/// Executes what is decided: on the poller's thread, which is the fastest for short operations, or
/// on others. Belongs to the poller's thread, on which all callbacks are called.
class Execution {
 public:
  struct Host {
    std::function<void(Reply)> reply;
    /// Everything up to here is executed, or was restored; and Service::timer.
    std::function<void(Instance, std::optional<std::uint64_t> timer)> executed;
    /// Clients that come, go, or get another key.
    std::function<void(const std::vector<Admission>&)> admitted;
  };

  /// `threads` 0: the poller's; else another one, and those of `executor`. `machine` outlives it.
  Execution(net::Poller& poller, StateMachine& machine, std::uint32_t threads,
            std::unique_ptr<Executor> executor, Host host);
  ~Execution();

  void execute(Execute decided);
  /// Executes what waits, if that is this thread's task.
  void run();
  /// After all that was handed over before.
  void query(Buffer operation, std::function<void(Buffer)> done);
  /// Answers again what was executed before; calls `fresh` if that is not so.
  void answer_again(Request request, std::function<void(Request)> fresh);
  /// For replicas whose states differ; after all that was handed over before.
  void tell_trail(TrailRequest asked, std::function<void(Trail)> told);
  /// A checkpoint is stable there.
  void stable(Instance instance);
  /// The state after all that was handed over before, made into bytes by another thread; or
  /// `skipped`, if it is not worth that; or neither, if it is not wanted.
  void take_checkpoint(const TakeCheckpoint& due, Pieces pieces,
                       std::function<void(Checkpoint)> taken, std::function<void()> skipped);
  /// The service becomes this, in place of what it was.
  void restore(Instance instance, std::shared_ptr<const Buffer> image,
               std::function<void(Result<Done>)> done);

 private:
  void post(std::function<void(Service&)> what);
  /// Calls `what` on the poller's thread, or not at all if this is gone by then.
  void tell(std::function<void()> what);

  net::Poller& poller_;
  const Host host_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Service> service_;
  /// For those who come late.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  /// What waits for `run`.
  std::vector<Execute> waiting_;
  /// Writes a checkpoint.
  std::thread writer_;
  /// In place of all that, with threads.
  std::unique_ptr<ServiceThread> thread_;
};

}  // namespace piracema::smr
