#pragma once

#include <cstdint>

namespace piracema::state {

/// How far a replica had come when it saved its state; the first byte of its part of a snapshot.
enum class Stage : std::uint8_t { running, ended, cycle_ended };

}  // namespace piracema::state
