#pragma once

#include <piracema/bytes.h>

#include <cstdint>
#include <optional>

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

  /// Another number than before once anything was executed that a held read may have news of: as
  /// long as it stays the same, held reads are not looked at. None: whatever is executed may be
  /// news. Called by one thread, while operations run.
  virtual std::optional<std::uint64_t> changes() const { return std::nullopt; }
};

}  // namespace piracema::smr
