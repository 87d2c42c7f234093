#pragma once

#include <cstdint>

namespace piracema::ckpt {

/// Kinds of frames between both ends of a remote shell (door.h), in either direction.
enum class DoorFrame : std::uint8_t {
  request = 1,  ///< DoorRequest; the first one.
  input,        ///< Bytes of standard input; none: it has ended.
  output,       ///< Bytes of standard output,
  error,        ///< and of standard error.
  exit,         ///< A byte, the exit code; the last one.
};

constexpr std::uint16_t door_port = 1077;
constexpr std::size_t door_piece_bytes = std::size_t{64} << 10;

}  // namespace piracema::ckpt
