#pragma once

#include <piracema/bytes.h>

namespace piracema::smr {

/// A StateMachine that inherits this as well has reads that are held: a client asks once, and is
/// answered when there is something to tell, in place of asking again and again
/// (Client::invoke_held).
class Watchable {
 public:
  virtual ~Watchable() = default;

  /// Whether a reply of StateMachine::query tells anything; a function of the reply alone. Any
  /// thread.
  virtual bool has_news(Bytes reply) const = 0;
};

}  // namespace piracema::smr
