#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>

namespace piracema::state {

/// How far a replica had come when it saved its state; the first byte of its part of a snapshot.
enum class Stage : std::uint8_t { running, ended, cycle_ended };

/// What a part of a snapshot has beside states by key: docs/formats/snapshot.md. It refers to the
/// bytes that it was read from.
struct PlainPart {
  Stage stage = Stage::running;
  /// What the operator saved.
  Bytes state;
  /// Batches that were under way: at the head of a cycle those in it; elsewhere those that the
  /// barrier had overtaken, and nothing if there were none.
  Bytes under_way;
};

/// Errc::corrupt if it is none.
Result<PlainPart> read_plain_part(Bytes part);

}  // namespace piracema::state
