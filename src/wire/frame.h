#pragma once

#include <cstdint>

#include <piracema/bytes.h>
#include <piracema/error.h>

namespace piracema::wire {

/// What travels between two processes of a job. The two parts are kept apart so that a large
/// body is sent from where it lies and received where it stays; docs/formats/frame.md.
struct Frame {
  std::uint8_t kind = 0;
  /// The recovery it belongs to: a receiver refuses what is older than its own.
  std::uint32_t epoch = 0;
  /// Numbers of the replicas, for the kinds that have them.
  std::uint32_t from = 0, to = 0;
  Buffer head;
  Buffer body;
};

constexpr std::size_t frame_header_bytes = 40;
constexpr std::size_t frame_head_bytes_max = std::size_t{64} << 20;
constexpr std::size_t frame_body_bytes_max = (std::size_t{4} << 30) + (std::size_t{64} << 20);

struct FrameHeader {
  std::uint8_t kind = 0;
  std::uint32_t epoch = 0, from = 0, to = 0;
  std::uint64_t head_bytes = 0, body_bytes = 0;
};

/// The header that goes before `frame.head` and `frame.body`: `frame_header_bytes` long.
void write_header(const Frame& frame, std::byte* out);

/// `in` holds at least `frame_header_bytes`. Errc::corrupt for anything that no peer of this
/// version sends: another magic, a checksum that differs, a length above the limits.
Result<FrameHeader> read_header(Bytes in);

}  // namespace piracema::wire
