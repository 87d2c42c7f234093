#include "store/snapshot/part_reader.h"

#include <piracema/detail/restored.h>

#include <algorithm>
#include <new>
#include <span>

#include "base/text.h"
#include "store/snapshot/part_format.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

// In pieces, so that it is seen to get on.
Result<Done> read_state(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> room) {
  constexpr std::size_t piece_bytes = std::size_t{4} << 20;
  for (std::size_t done = 0; done < room.size();) {
    const auto piece = room.subspan(done, std::min(piece_bytes, room.size() - done));
    if (auto read = read_at(file, part_header_bytes + offset + done, piece); !read) return read;
    detail::note_restored(piece.size());
    done += piece.size();
  }
  return Done{};
}

Result<Buffer> read_run(const ReadableFile& file, std::uint64_t offset, std::uint64_t bytes) {
  Buffer run;
  try {
    run.resize(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, concat(file.path, ": no memory for its ", bytes, " bytes")};
  }
  if (auto read = read_state(file, offset, {run.data(), run.size()}); !read) return read.error();
  return run;
}

struct PartStart {
  PartHeader header{};
  std::size_t bytes = 0;
  operator Bytes() const { return Bytes(header).first(bytes); }
};
Result<PartStart> read_start(const ReadableFile& file) {
  PartStart start;
  start.bytes = static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes, part_header_bytes));
  if (auto read = read_at(file, 0, std::span(start.header).first(start.bytes)); !read) {
    return read.error();
  }
  return start;
}

Result<IndexedPart> read_indexed(const ReadableFile& file, const PartFile& want) {
  auto start = read_start(file);
  if (!start) return start.error();
  return check_indexed(file.path, file.bytes, *start, want);
}

}  // namespace

Result<PartReader> PartReader::open(const std::string& path, const PartFile& of) {
  auto file = open_for_reading(path);
  if (file) return PartReader(*std::move(file), of);
  const bool missing = file.error().code == Errc::not_found;
  return Error{missing ? Errc::corrupt : file.error().code, file.error().message};
}

Result<Buffer> PartReader::state(const Part& part) const {
  if (part.indexed) {
    auto content = index(&part);
    if (!content) return content.error();
    auto plain = read_run(file_, 0, content->plain_bytes);
    if (!plain) return plain;
    if (wire::checksum(*plain) != content->plain_checksum) {
      return Error{Errc::corrupt, concat(file_.path, ": want a state with another checksum")};
    }
    return plain;
  }
  auto start = read_start(file_);
  if (!start) return start.error();
  auto fits = check_part_header(file_.path, file_.bytes, *start, of_.snapshot, part);
  if (!fits) return fits.error();
  auto state = read_run(file_, 0, part.bytes);
  if (!state) return state;
  PartTrailer trailer{};
  auto read = read_at(file_, part_header_bytes + part.bytes, trailer);
  if (!read) return read.error();
  if (auto same = check_part_state(file_.path, *state, trailer, part); !same) return same.error();
  return state;
}

Result<PartIndex> PartReader::index(const Part* part) const {
  auto found = read_indexed(file_, of_);
  if (!found) return found.error();
  IndexTrailer trailer{};
  auto read = read_at(file_, part_header_bytes + found->bytes, trailer);
  if (!read) return read.error();
  auto place = check_index_trailer(file_.path, trailer, *found, part);
  if (!place) return place.error();
  auto text = read_run(file_, found->bytes - place->bytes, place->bytes);
  if (!text) return text.error();
  return check_index(file_.path, *text, *found, *place, of_, part);
}

Result<Buffer> PartReader::run(std::uint64_t offset, std::uint64_t bytes) const {
  auto holds = read_indexed(file_, of_);
  if (!holds) return holds.error();
  if (offset > holds->bytes || bytes > holds->bytes - offset) {
    return Error{Errc::corrupt, concat(file_.path, ": want ", bytes, " bytes at ", offset,
                                       ", found that it holds ", holds->bytes)};
  }
  return read_run(file_, offset, bytes);
}

}  // namespace piracema::store
