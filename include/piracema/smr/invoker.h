#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <functional>

namespace piracema::smr {

/// Who can have a replicated service do something: a Client, or a Replica for the process that it
/// is in. Any thread.
class Invoker {
 public:
  /// Called once, on a thread of the invoker's: must not block, and must not wait for another
  /// operation. An error does not say that the operation was not executed, unless the invoker says
  /// so.
  using Callback = std::function<void(Result<Buffer>)>;

  virtual ~Invoker() = default;

  /// The reply of StateMachine::apply; in the order of all operations.
  virtual void invoke_ordered(Bytes operation, Callback done) = 0;
  /// The reply of StateMachine::query, which sees all that was answered to anybody before it was
  /// called.
  virtual void invoke_unordered(Bytes operation, Callback done) = 0;
};

}  // namespace piracema::smr
