#pragma once

#include <piracema/error.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "smr/order/messages/log_record.h"
#include "store/log/log_group.h"

namespace piracema::smr {

/// Makes records durable on a thread of its own: those that come while a sync is under way are
/// gathered for the next one (group commit). All but the callbacks belongs to one thread.
class LogWriter {
 public:
  struct Host {
    /// Writes and syncs; empties the group. `idle`: no more is waiting.
    std::function<Result<Done>(store::LogGroup& group, bool idle)> commit;
    /// Nothing has come for a while.
    std::function<Result<Done>()> settle;
    /// So many records are durable; or nothing will be any more. Both are called on the writer's
    /// thread.
    std::function<void(std::uint64_t durable)> durable;
    std::function<void(Error)> failed;
  };

  explicit LogWriter(Host host);
  /// What is not written is dropped.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void append(const LogRecord& record);
  /// Records so far; `durable` tells how many of them have come to rest.
  std::uint64_t appended() const { return appended_; }
  /// Calls `what` on the writer's thread, between two syncs, when all that was appended so far is
  /// durable.
  void post(std::function<void()> what);
  /// Hands over what was appended, unless a sync is under way: then that is followed by another.
  void kick();

 private:
  struct Work {
    store::LogGroup group;
    std::uint64_t upto = 0;
    std::vector<std::function<void()>> then;
    bool empty() const { return group.empty() && then.empty(); }
  };
  void write();

  const Host host_;
  std::uint64_t appended_ = 0;

  std::mutex mutex_;
  std::condition_variable filled_;
  /// Being filled; swapped with the thread's own when that is done.
  Work waiting_;
  bool kicked_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace piracema::smr
