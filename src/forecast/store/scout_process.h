#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "base/fd.h"
#include "forecast/store/store_record.h"

/// The process that a StoreScout is the handle of, and what it is told.
namespace piracema::ckpt {

enum class ScoutOrderKind : std::uint8_t { announce, remember, sample };

struct ScoutOrder {
  ScoutOrderKind kind = ScoutOrderKind::announce;
  /// To be remembered, or what is known before a sample.
  PastDump dump;
  /// What is announced: seconds since 1970.
  double from = 0, to = 0, bytes = 0;
  bool soon = false;
  auto fields() { return std::tie(kind, dump, from, to, bytes, soon); }
};

/// Of a message between both.
constexpr std::size_t scout_message_bytes_max = 4096;

/// Looks at the store and does what it is told, until the other end of its socket has gone.
void run_scout(Fd socket, const std::string& place);

}  // namespace piracema::ckpt
