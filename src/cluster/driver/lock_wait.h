#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>

#include "base/fd.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// Waits for a lock that another process has, which may take for ever, while the poller goes on.
/// Belongs to the poller's thread.
class LockWait {
 public:
  /// As `store::wait_to_lock_file`. The poller is woken when it is done.
  LockWait(net::Poller& poller, const std::string& path);
  /// Waits no more: what it may still get is given back.
  ~LockWait();
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  bool done() const;
  /// Once, when it is done.
  Result<Fd> take();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace piracema::cluster
