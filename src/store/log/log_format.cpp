#include "store/log/log_format.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "base/ensure.h"
#include "base/parse.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

constexpr std::string_view log_mark = "PIRALOG\n";
constexpr std::string_view name_prefix = "log-";

template <class N>
void put(std::byte* to, N value) {
  for (std::size_t i = 0; i < sizeof(N); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <class N>
N get(const std::byte* from) {
  N value = 0;
  for (std::size_t i = 0; i < sizeof(N); ++i) {
    value = static_cast<N>(value | static_cast<N>(static_cast<N>(from[i]) << (8 * i)));
  }
  return value;
}

}  // namespace

SegmentHeaderBytes encode(const SegmentHeader& header) {
  SegmentHeaderBytes out{};
  std::memcpy(out.data(), log_mark.data(), log_mark.size());
  put(&out[8], log_version);
  put(&out[16], header.owner);
  put(&out[24], header.first);
  put(&out[32], header.floor);
  put(&out[56], wire::checksum(Bytes(out).first(56)));
  return out;
}

Result<SegmentHeader> decode_segment_header(Bytes in) {
  if (in.size() < segment_header_bytes) {
    return Error{Errc::corrupt,
                 concat("want a header of ", segment_header_bytes, " bytes, found ", in.size())};
  }
  if (get<std::uint64_t>(&in[56]) != wire::checksum(in.first(56)) ||
      as_text(in.first(log_mark.size())) != log_mark) {
    return Error{Errc::corrupt, "want the header of a log, found other bytes"};
  }
  if (const auto version = get<std::uint32_t>(&in[8]); version != log_version) {
    return Error{Errc::refused, concat("this program reads version ", log_version,
                                       " of the format, found ", version)};
  }
  return SegmentHeader{get<std::uint64_t>(&in[16]), get<std::uint64_t>(&in[24]),
                       get<std::uint64_t>(&in[32])};
}

void seal_record(const RecordHeader& header, std::span<std::byte> record) {
  ENSURE(record.size() == record_room(header.bytes));
  put(&record[8], header.sequence);
  put(&record[16], header.durable);
  put(&record[24], header.floor);
  put(&record[32], header.bytes);
  put(&record[36], static_cast<std::uint32_t>(header.kind));
  put(&record[0], wire::checksum(record.subspan(8)));
}

std::optional<RecordHeader> read_record(Bytes in) {
  if (in.size() < record_header_bytes) return std::nullopt;
  RecordHeader header;
  header.sequence = get<std::uint64_t>(&in[8]);
  header.durable = get<std::uint64_t>(&in[16]);
  header.floor = get<std::uint64_t>(&in[24]);
  header.bytes = get<std::uint32_t>(&in[32]);
  const auto kind = get<std::uint32_t>(&in[36]);
  if (kind != static_cast<std::uint32_t>(RecordKind::data) &&
      kind != static_cast<std::uint32_t>(RecordKind::seal)) {
    return std::nullopt;
  }
  header.kind = static_cast<RecordKind>(kind);
  if (header.bytes > record_bytes_max || record_room(header.bytes) > in.size()) return std::nullopt;
  const Bytes record = in.first(record_room(header.bytes));
  if (get<std::uint64_t>(&record[0]) != wire::checksum(record.subspan(8))) return std::nullopt;
  return header;
}

std::string segment_name(LogSequence first) {
  char name[32];
  std::snprintf(name, sizeof name, "log-%016llx", static_cast<unsigned long long>(first));
  return name;
}

std::optional<LogSequence> first_of_segment(std::string_view name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  const auto first = parse_number<LogSequence>(name.substr(name_prefix.size()), 16);
  if (!first || *first == 0 || segment_name(*first) != name) return std::nullopt;
  return first;
}

}  // namespace piracema::store
