#pragma once

#include <piracema/smr/invoker.h>
#include <piracema/smr/key_value.h>

#include <chrono>
#include <optional>

#include "base/clock.h"

namespace piracema::smr::kv {

/// Has the map do it, and waits. Not on a thread of the invoker's.
Result<Reply> ask_ordered(Invoker& invoker, Bytes operation);
Result<Reply> ask_unordered(Invoker& invoker, Bytes operation);

template <class Operation>
Result<Reply> change(Invoker& invoker, const Operation& operation) {
  return ask_ordered(invoker, encode(operation));
}
template <class Operation>
Result<Reply> look(Invoker& invoker, const Operation& operation) {
  return ask_unordered(invoker, encode(operation));
}

/// For people: "want …, the map says …".
Error unexpected(const char* wanted, const Reply& reply);

/// What others do is seen so late; looking costs the group so little.
constexpr std::chrono::milliseconds looks_every{50};

/// How long somebody is willing to wait for what only others can bring about.
class Waiting {
 public:
  explicit Waiting(std::optional<std::chrono::milliseconds> patience);

  /// Whether to look again, after a while; false once it has taken too long.
  bool again();

 private:
  std::optional<Time> deadline_;
};

}  // namespace piracema::smr::kv
