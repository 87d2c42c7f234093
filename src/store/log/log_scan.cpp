#include "store/log/log_scan.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace piracema::store {

namespace {

// More than any segment that we make; a file that claims more is not read into memory.
constexpr std::uint64_t segment_bytes_max = record_bytes_max + (std::uint64_t{64} << 20);

struct Scanned {
  ScannedSegment segment;
  /// Why the header is none; empty if it is one.
  std::string bad_header;
};

// What all records and headers together say about the log, damaged or not, wherever they lie.
struct Claims {
  /// Everything before this was durable once.
  LogSequence durable = 1;
  LogSequence floor = 1;

  void add(LogSequence durable_before, LogSequence floor_then) {
    durable = std::max(durable, durable_before);
    floor = std::max(floor, floor_then);
  }
};

std::uint64_t used_bytes(Bytes file) {
  std::size_t end = file.size();
  while (end > 0 && file[end - 1] == std::byte{}) end -= 1;
  return end;
}

// Looks behind the first record that is not right for others that are: they tell whether it was
// durable. Records lie at multiples of 8 bytes; those of an earlier time have smaller numbers.
void search_claims(Bytes rest, LogSequence expected, Claims& claims) {
  for (std::size_t at = 0; at + record_header_bytes <= rest.size(); at += record_alignment) {
    std::uint64_t word = 0;
    std::memcpy(&word, &rest[at], sizeof word);
    if (word == 0) continue;
    const auto record = read_record(rest.subspan(at));
    if (record && record->sequence >= expected) claims.add(record->durable, record->floor);
  }
}

Result<Scanned> scan_segment(Disk& disk, const std::string& name, LogSequence first,
                             std::uint64_t owner, Claims& claims) {
  auto file = read_whole(disk, name, segment_bytes_max);
  if (!file) return file.error();
  const Bytes bytes = *file;
  Scanned scanned{{name, first, first, segment_header_bytes, used_bytes(bytes)}, {}};
  ScannedSegment& segment = scanned.segment;
  auto header = decode_segment_header(bytes);
  if (header && header->first != first) {
    scanned.bad_header = concat("want the file that begins with record ", first,
                                ", found that of record ", header->first);
  } else if (header && header->owner != owner) {
    return Error{Errc::refused, concat(name, ": want the log of owner ", owner, ", found that of ",
                                       header->owner)};
  } else if (!header && header.error().code == Errc::refused) {
    return Error{Errc::refused, concat(name, ": ", header.error().message)};
  } else if (!header) {
    scanned.bad_header = header.error().message;
  } else {
    claims.add(first, header->floor);  // A file begins when all before it is durable.
  }
  if (!scanned.bad_header.empty()) {
    if (bytes.size() > segment_header_bytes) {
      search_claims(bytes.subspan(segment_header_bytes), first, claims);
    }
    return scanned;
  }
  for (;;) {
    const auto record = read_record(bytes.subspan(static_cast<std::size_t>(segment.end)));
    if (!record || record->sequence != segment.next) break;
    claims.add(record->durable, record->floor);
    segment.end += record_room(record->bytes);
    if (record->kind == RecordKind::data) segment.next += 1;
  }
  search_claims(bytes.subspan(static_cast<std::size_t>(segment.end)), segment.next, claims);
  segment.used = std::max(segment.used, segment.end);
  return scanned;
}

Error lost(const std::string& where, const std::string& why) {
  return Error{Errc::corrupt, concat(where, ": ", why, ": records are lost that were durable")};
}

// The one place that decides between a crash, which may be forgotten, and damage, which may not.
Result<LogScan> judge(std::vector<Scanned> files, const Claims& claims) {
  LogScan scan;
  scan.floor = claims.floor;
  // Whole files below the floor do not matter: they were to be removed.
  std::size_t begin = 0;
  while (begin + 1 < files.size() && files[begin + 1].segment.first <= claims.floor) {
    scan.leftovers.push_back(files[begin].segment.name);
    begin += 1;
  }
  files.erase(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(begin));

  // A file that was being made when the machine crashed; nothing in it was durable.
  if (!files.empty() && !files.back().bad_header.empty() &&
      claims.durable <= files.back().segment.first &&
      (files.size() > 1 || files.back().segment.first == 1)) {
    scan.cut = concat(files.back().segment.name, ": ", files.back().bad_header);
    scan.leftovers.push_back(files.back().segment.name);
    files.pop_back();
  }
  if (files.empty()) {
    if (claims.durable > 1) return lost("log", "no file is left");
    return scan;
  }
  if (const auto& first = files.front().segment; first.first > claims.floor) {
    return lost(first.name, concat("want a file that begins with record ", claims.floor,
                                   " or before it, found record ", first.first));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [segment, bad_header] = files[i];
    if (!bad_header.empty()) return lost(segment.name, bad_header);
    const LogSequence want = i + 1 < files.size() ? files[i + 1].segment.first : claims.durable;
    const bool last = i + 1 == files.size();
    if (segment.next < want || (!last && segment.next > want)) {
      return lost(segment.name,
                  concat("want record ", segment.next, " at ", segment.end,
                         ", found other bytes, and later ones that say it was there"));
    }
    scan.segments.push_back(segment);
  }
  const auto& last = scan.segments.back();
  if (scan.cut.empty() && last.used > last.end) {
    scan.cut = concat(last.name, ": ", last.used - last.end, " bytes behind record ", last.next - 1,
                      ", which a crash has left of what was being written");
  }
  return scan;
}

}  // namespace

Result<LogScan> scan_log(Disk& disk, std::uint64_t owner) {
  auto names = disk.list();
  if (!names) return names.error();
  std::vector<Scanned> files;
  Claims claims;
  // In the order of their numbers, since the names have leading zeros.
  for (const std::string& name : *names) {
    const auto first = first_of_segment(name);
    if (!first) continue;
    auto scanned = scan_segment(disk, name, *first, owner, claims);
    if (!scanned) return scanned.error();
    files.push_back(*std::move(scanned));
  }
  return judge(std::move(files), claims);
}

Result<Done> visit_segment(Disk& disk, const ScannedSegment& segment, LogSequence floor,
                           const std::function<Result<Done>(LogSequence, Bytes)>& visit) {
  auto file = read_whole(disk, segment.name, segment_bytes_max);
  if (!file) return file.error();
  std::size_t at = segment_header_bytes;
  for (LogSequence sequence = segment.first; sequence < segment.next;) {
    const auto record = read_record(Bytes(*file).subspan(at));
    if (!record) {
      return Error{Errc::corrupt,
                   concat(segment.name, ": record ", sequence, " has changed while it was read")};
    }
    const Bytes body = Bytes(*file).subspan(at + record_header_bytes, record->bytes);
    at += record_room(record->bytes);
    if (record->kind == RecordKind::seal) continue;
    if (sequence >= floor) {
      if (auto visited = visit(sequence, body); !visited) return visited;
    }
    sequence += 1;
  }
  return Done{};
}

}  // namespace piracema::store
