#pragma once

#include <piracema/error.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>

#include <chrono>
#include <string>
#include <vector>

namespace piracema::smr::kv {

/// What happens to a key of the map, or to all keys with a prefix, as it happens: replicas push it.
/// Each event once and in order, also when connections end and leaders change. Who reads slowly
/// is owed nothing that the map no longer knows. One thread.
class Watcher {
 public:
  /// From behind the place `from`: of a List, or of the last event that was seen. `client` outlives
  /// it.
  Watcher(Client& client, std::string key, bool is_prefix, Index from);

  /// Waits until something happens, for so long at most; nothing then. At most list_max events;
  /// there may be more at once.
  ///
  /// Errc::lost if what follows `from` is no longer known: List, and watch from there. Else those
  /// of the client, but for a timeout.
  Result<std::vector<Event>> next(std::chrono::milliseconds patience);

  /// Where the next one would go on.
  Index from() const { return from_; }

 private:
  Client& client_;
  const std::string key_;
  const bool is_prefix_;
  Index from_;
};

}  // namespace piracema::smr::kv
