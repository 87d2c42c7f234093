#pragma once

#include <piracema/error.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/frame.h"

namespace piracema::net {

/// What a peer may send.
struct FrameLimits {
  std::uint64_t head_bytes = wire::frame_head_bytes_max;
  std::uint64_t body_bytes = wire::frame_body_bytes_max;
};

using MaybeFrame = std::optional<wire::Frame>;

/// Cuts a stream of bytes into frames. It says where it wants the next bytes, so that they are
/// read into their place: a large part of a frame at once where it stays, small ones many
/// together. Does no I/O itself.
///
/// The bytes may be anything. Memory is bounded by twice what has come, plus 16 MiB: a header
/// that claims much gets as much only while the bytes follow.
class FrameReader {
 public:
  explicit FrameReader(FrameLimits limits = {}) : limits_(limits) {}

  /// For the frames whose header is not read yet.
  void set_limits(FrameLimits limits) { limits_ = limits; }

  /// Where the next bytes go: the first place, when that is full the second. The second is
  /// never empty. Call it after `next` has said that there is no frame.
  std::array<iovec, 2> room();

  /// `count` bytes were put there.
  void filled(std::size_t count);

  /// The next frame, or none while it is not there as a whole. Errc::corrupt for bytes that no
  /// peer sends, or a frame above the limits; there is no going on after that.
  Result<MaybeFrame> next();

  /// What has come behind the last frame, which it forgets: it is to be read in another way.
  /// Between frames only.
  Buffer take_rest();

  /// The stream may end here: nothing of another frame has come.
  bool between_frames() const { return part_ == Part::header && begin_ == end_; }

 private:
  enum class Part { header, head, body };

  Result<Done> read_header();
  bool complete(Buffer& part, std::uint64_t want);
  void make_room(Buffer& part, std::uint64_t want) const;

  FrameLimits limits_;
  /// Bytes that have come and are not yet looked at: `begin_` to `end_`.
  Buffer buffer_;
  std::size_t begin_ = 0, end_ = 0;

  /// The frame that comes, how far it is, and how much of that part has come.
  Part part_ = Part::header;
  wire::FrameHeader header_;
  wire::Frame frame_;
  std::size_t got_ = 0;
  /// Size of the first place that `room` told.
  std::size_t direct_ = 0;
};

}  // namespace piracema::net
