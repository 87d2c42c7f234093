#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

/// The bytes of a write-ahead log; docs/formats/log.md.
namespace piracema::store {

/// Numbers the records of a log, from 1, without gaps.
using LogSequence = std::uint64_t;

constexpr std::uint32_t log_version = 1;
constexpr std::size_t segment_header_bytes = 64;
constexpr std::size_t record_header_bytes = 40;
constexpr std::size_t record_alignment = 8;
constexpr std::size_t record_bytes_max = std::size_t{1} << 30;

struct SegmentHeader {
  /// Whose log it is: told apart from another's that lies in the same place.
  std::uint64_t owner = 0;
  LogSequence first = 0;
  /// Nothing before this was needed any more when the segment was made.
  LogSequence floor = 0;
};

using SegmentHeaderBytes = std::array<std::byte, segment_header_bytes>;
SegmentHeaderBytes encode(const SegmentHeader& header);
/// Errc::refused for another version, Errc::corrupt for what is no header; without the file's name.
Result<SegmentHeader> decode_segment_header(Bytes in);

enum class RecordKind : std::uint8_t {
  data = 1,
  /// Without a body or a number of its own: only says how far the log is durable.
  seal = 2,
};

struct RecordHeader {
  LogSequence sequence = 0;
  /// Everything before this was durable when the record was written.
  LogSequence durable = 0;
  /// Nothing before this was needed any more.
  LogSequence floor = 0;
  std::uint32_t bytes = 0;
  RecordKind kind = RecordKind::data;
};

/// With its header and padding.
constexpr std::size_t record_room(std::size_t bytes) {
  return (record_header_bytes + bytes + record_alignment - 1) & ~(record_alignment - 1);
}

/// Fills in the header before a body that is there already: `record` is record_room(bytes) long.
void seal_record(const RecordHeader& header, std::span<std::byte> record);
/// The record at the beginning of `in`; nullopt if there is none that is whole and right.
std::optional<RecordHeader> read_record(Bytes in);

/// "log-0000000000000001", and back; nullopt for other names.
std::string segment_name(LogSequence first);
std::optional<LogSequence> first_of_segment(std::string_view name);

}  // namespace piracema::store
