#include "store/objects/object_part_reader.h"

#include <piracema/detail/restored.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::store {

namespace {

constexpr std::uint64_t run_piece_bytes = std::uint64_t{8} << 20;
/// How much is read at the end of an indexed part to get its index at once.
constexpr std::uint64_t index_guess_bytes = std::uint64_t{64} << 10;
constexpr std::size_t opened_max = 1'024;

Bytes start_of(const Buffer& content) {
  return Bytes(content).first(std::min(content.size(), part_header_bytes));
}

}  // namespace

Result<ObjectClient::Read> ObjectPartReader::read_part(const std::string& key, std::uint64_t offset,
                                                       std::uint64_t bytes,
                                                       const std::string& tag) {
  auto read = client_.get(key, offset, bytes, tag);
  if (read) return read;
  const Errc code = read.error().code;
  const bool gone = code == Errc::not_found || code == Errc::refused;
  if (gone) return Error{Errc::corrupt, concat(place_.path(key), ": ", read.error().message)};
  return read.error();
}

Result<Buffer> ObjectPartReader::read_run(const std::string& key,
                                          const ObjectClient::Object& object, std::uint64_t offset,
                                          std::uint64_t bytes) {
  Buffer run;
  try {
    run.reserve(static_cast<std::size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return Error{Errc::io, concat(place_.path(key), ": no memory for its ", bytes, " bytes")};
  }
  while (run.size() < bytes) {
    const std::uint64_t want = std::min(run_piece_bytes, bytes - run.size());
    const auto read = read_part(key, offset + run.size(), want, object.tag);
    if (!read) return read.error();
    if (read->content.size() != want) {
      return Error{Errc::corrupt, concat(place_.path(key), ": want ", want, " bytes at ",
                                         offset + run.size(), ", found ", read->content.size())};
    }
    run.append(read->content.data(), read->content.size());
    detail::note_restored(read->content.size());
  }
  return run;
}

Result<Buffer> ObjectPartReader::get(SnapshotId snapshot, const Part& part) {
  const std::string key = place_.part({snapshot, part.replica}), path = place_.path(key);
  if (part.indexed) {
    auto content = index({snapshot, part.replica}, &part);
    if (!content) return content.error();
    if (content->plain_bytes == 0) return Buffer();
    auto plain = read({snapshot, part.replica}, 0, content->plain_bytes);
    if (plain && wire::checksum(*plain) != content->plain_checksum) {
      return Error{Errc::corrupt, concat(path, ": want a state with another checksum")};
    }
    return plain;
  }
  // All of a small one at once.
  const std::uint64_t whole =
      part_header_bytes + std::min(part.bytes, part_bytes_max) + part_trailer_bytes;
  auto first = read_part(key, 0, std::min(whole, run_piece_bytes));
  if (!first) return first.error();
  auto fits =
      check_part_header(path, first->object.bytes, start_of(first->content), snapshot, part);
  if (!fits) return fits.error();
  Buffer file = std::move(first->content);
  if (file.size() < whole) {
    auto rest = read_run(key, first->object, file.size(), whole - file.size());
    if (!rest) return rest.error();
    file.append(rest->data(), rest->size());
  }
  const Bytes content = Bytes(file).subspan(part_header_bytes);
  const Bytes state = content.first(static_cast<std::size_t>(part.bytes));
  auto same = check_part_state(path, state, content.subspan(state.size()), part);
  if (!same) return same.error();
  return Buffer(state);
}

Result<ObjectPartReader::Opened> ObjectPartReader::open_indexed(const PartFile& file) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = opened_.find(file); found != opened_.end()) return found->second;
  }
  const std::string key = place_.part(file);
  const auto start = read_part(key, 0, part_header_bytes);
  if (!start) return start.error();
  auto holds = check_indexed(place_.path(key), start->object.bytes, start_of(start->content), file);
  if (!holds) return holds.error();
  Opened opened{start->object, *holds};
  const std::lock_guard lock(mutex_);
  if (opened_.size() >= opened_max) opened_.clear();
  opened_.insert_or_assign(file, opened);
  return opened;
}

Result<PartIndex> ObjectPartReader::index(const PartFile& of, const Part* part) {
  {
    // It may have been put again since.
    const std::lock_guard lock(mutex_);
    opened_.erase(of);
  }
  const std::string key = place_.part(of), path = place_.path(key);
  const auto opened = open_indexed(of);
  if (!opened) return opened.error();
  const IndexedPart& holds = opened->holds;
  const std::uint64_t end = part_header_bytes + holds.bytes + index_trailer_bytes;
  const std::uint64_t guess = std::min(index_guess_bytes, end - part_header_bytes);
  const auto tail = read_run(key, opened->object, end - guess, guess);
  if (!tail) return tail.error();
  const Bytes last = Bytes(*tail).last(index_trailer_bytes);
  auto place = check_index_trailer(path, last, holds, part);
  if (!place) return place.error();
  if (place->bytes + index_trailer_bytes <= guess) {
    const Bytes text = Bytes(*tail).first(tail->size() - index_trailer_bytes).last(place->bytes);
    return check_index(path, text, holds, *place, of, part);
  }
  const auto text =
      read_run(key, opened->object, part_header_bytes + holds.bytes - place->bytes, place->bytes);
  if (!text) return text.error();
  return check_index(path, *text, holds, *place, of, part);
}

Result<Buffer> ObjectPartReader::read(const PartFile& file, std::uint64_t offset,
                                      std::uint64_t bytes) {
  const std::string key = place_.part(file);
  for (bool again = false;; again = true) {
    const auto opened = open_indexed(file);
    if (!opened) return opened.error();
    const IndexedPart& holds = opened->holds;
    if (offset > holds.bytes || bytes > holds.bytes - offset) {
      return Error{Errc::corrupt, concat(place_.path(key), ": want ", bytes, " bytes at ", offset,
                                         ", found that it holds ", holds.bytes)};
    }
    auto run = read_run(key, opened->object, part_header_bytes + offset, bytes);
    if (run) return run;
    // It may have been put again since somebody looked into it.
    const std::lock_guard lock(mutex_);
    opened_.erase(file);
    if (again || run.error().code != Errc::corrupt) return run;
  }
}

void ObjectPartReader::forget(SnapshotId snapshot) {
  const std::lock_guard lock(mutex_);
  std::erase_if(opened_, [&](const auto& one) { return one.first.snapshot == snapshot; });
}

}  // namespace piracema::store
