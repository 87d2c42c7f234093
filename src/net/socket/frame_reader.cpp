#include "net/socket/frame_reader.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::net {

namespace {
// Holds many small frames; and where frames are large, no more than this of each is copied.
constexpr std::size_t buffer_bytes = std::size_t{16} << 10;
// Believed of a header before any byte of the part has come.
constexpr std::size_t first_room_bytes = std::size_t{16} << 20;
}  // namespace

std::array<iovec, 2> FrameReader::room() {
  buffer_.resize(buffer_bytes);
  // At most a piece of a header is left: `next` has used everything else.
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  ENSURE(end_ < wire::frame_header_bytes);

  const iovec spare{buffer_.data() + end_, buffer_bytes - end_};
  direct_ = 0;
  if (part_ == Part::header) return {iovec{nullptr, 0}, spare};
  Buffer& part = part_ == Part::head ? frame_.head : frame_.body;
  make_room(part, part_ == Part::head ? header_.head_bytes : header_.body_bytes);
  direct_ = part.size() - got_;
  return {iovec{part.data() + got_, direct_}, spare};
}

void FrameReader::filled(std::size_t count) {
  const std::size_t direct = std::min(count, direct_);
  got_ += direct;
  direct_ -= direct;
  end_ += count - direct;
  ENSURE(end_ <= buffer_bytes);
}

Result<MaybeFrame> FrameReader::next() {
  if (part_ == Part::header) {
    if (end_ - begin_ < wire::frame_header_bytes) return MaybeFrame();
    if (auto read = read_header(); !read) return read.error();
    part_ = Part::head;
  }
  if (part_ == Part::head) {
    if (!complete(frame_.head, header_.head_bytes)) return MaybeFrame();
    part_ = Part::body;
  }
  if (!complete(frame_.body, header_.body_bytes)) return MaybeFrame();
  part_ = Part::header;
  return MaybeFrame(std::exchange(frame_, {}));
}

Buffer FrameReader::take_rest() {
  ENSURE(part_ == Part::header);
  Buffer rest(Bytes(buffer_.data() + begin_, end_ - begin_));
  begin_ = end_ = 0;
  return rest;
}

Result<Done> FrameReader::read_header() {
  auto header = wire::read_header({buffer_.data() + begin_, end_ - begin_});
  if (!header) return header.error();
  if (header->head_bytes > limits_.head_bytes || header->body_bytes > limits_.body_bytes) {
    return Error{Errc::corrupt,
                 concat("frame: want at most ", limits_.head_bytes, " bytes of head and ",
                        limits_.body_bytes, " of body here, found ", header->head_bytes, " and ",
                        header->body_bytes)};
  }
  begin_ += wire::frame_header_bytes;
  header_ = *header;
  frame_.kind = header_.kind;
  frame_.epoch = header_.epoch;
  frame_.from = header_.from;
  frame_.to = header_.to;
  return Done{};
}

// Moves what has come of a part to its place; true once the part is whole.
bool FrameReader::complete(Buffer& part, std::uint64_t want) {
  while (got_ < want && begin_ < end_) {
    make_room(part, want);
    const std::size_t count = std::min(part.size() - got_, end_ - begin_);
    std::memcpy(part.data() + got_, buffer_.data() + begin_, count);
    got_ += count;
    begin_ += count;
  }
  if (got_ < want) return false;
  got_ = 0;
  return true;
}

void FrameReader::make_room(Buffer& part, std::uint64_t want) const {
  if (got_ < part.size() || got_ == want) return;
  part.resize(std::min<std::uint64_t>(want, std::max(first_room_bytes, 2 * got_)));
}

}  // namespace piracema::net
