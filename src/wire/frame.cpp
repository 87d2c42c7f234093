#include "wire/frame.h"

#include "base/ensure.h"
#include "base/hint.h"
#include "base/text.h"
#include "wire/checksum.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::wire {

namespace {
constexpr std::uint16_t magic = 0x4350;  // "PC"
constexpr std::uint8_t version = 1;
constexpr std::size_t checked_bytes = frame_header_bytes - sizeof(std::uint32_t);

std::uint32_t header_checksum(Bytes header) {
  return static_cast<std::uint32_t>(checksum(header.first(checked_bytes)));
}
}  // namespace

void write_header(const Frame& frame, std::byte* out) {
  ENSURE(frame.head.size() <= frame_head_bytes_max);
  ENSURE(frame.body.size() <= frame_body_bytes_max);
  Buffer header;
  header.reserve(frame_header_bytes);
  Writer writer(header);
  writer.number(magic);
  writer.number(version);
  writer.number(frame.kind);
  writer.number(frame.epoch);
  writer.number(frame.from);
  writer.number(frame.to);
  writer.number(static_cast<std::uint64_t>(frame.head.size()));
  writer.number(static_cast<std::uint64_t>(frame.body.size()));
  writer.number(std::uint32_t{0});  // Reserved.
  writer.number(header_checksum({header.data(), header.size()}));
  ENSURE(header.size() == frame_header_bytes);
  std::memcpy(out, header.data(), frame_header_bytes);
}

Result<FrameHeader> read_header(Bytes in) {
  ENSURE(in.size() >= frame_header_bytes);
  const Bytes bytes = in.first(frame_header_bytes);
  Reader reader(bytes);
  const auto found_magic = reader.number<std::uint16_t>();
  const auto found_version = reader.number<std::uint8_t>();
  if (found_magic != magic) {
    return Error{Errc::corrupt, concat("frame header: want the mark ", magic, ", found ",
                                       found_magic, ": not a peer of ours")};
  }
  if (found_version != version) {
    return Error{Errc::corrupt,
                 with_hint(concat("frame header: this is version ", version,
                                  " of the protocol, the peer speaks version ", found_version),
                           other_version_hint)};
  }
  FrameHeader header;
  header.kind = reader.number<std::uint8_t>();
  header.epoch = reader.number<std::uint32_t>();
  header.from = reader.number<std::uint32_t>();
  header.to = reader.number<std::uint32_t>();
  header.head_bytes = reader.number<std::uint64_t>();
  header.body_bytes = reader.number<std::uint64_t>();
  reader.number<std::uint32_t>();
  if (reader.number<std::uint32_t>() != header_checksum(bytes)) {
    return Error{Errc::corrupt, "frame header: checksum differs"};
  }
  if (header.head_bytes > frame_head_bytes_max || header.body_bytes > frame_body_bytes_max) {
    return Error{Errc::corrupt, concat("frame header: lengths ", header.head_bytes, " and ",
                                       header.body_bytes, " are above the limits")};
  }
  return header;
}

}  // namespace piracema::wire
