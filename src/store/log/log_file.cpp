#include "store/log/log_file.h"

#include <algorithm>
#include <cstring>

#include "base/ensure.h"
#include "base/text.h"
#include "store/log/log_scan.h"

namespace piracema::store {

namespace {

// Behind every record there is room for the mark of the end.
constexpr std::uint64_t seal_bytes = record_room(0);

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::open(Disk& disk, const LogSettings& settings,
                                               const Visit& visit) {
  auto log = std::make_unique<LogFile>(disk, settings);
  if (auto recovered = log->recover(visit); !recovered) return recovered.error();
  return log;
}

Result<Done> LogFile::erase(Disk& disk) {
  auto names = disk.list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!first_of_segment(name)) continue;
    if (auto removed = disk.remove(name); !removed) return removed;
  }
  return disk.sync_names();
}

Result<Done> LogFile::recover(const Visit& visit) {
  auto scan = scan_log(disk_, settings_.owner);
  if (!scan) return scan.error();
  for (const ScannedSegment& segment : scan->segments) {
    auto visited = visit_segment(disk_, segment, scan->floor, visit);
    if (!visited) return visited;
  }
  for (const std::string& name : scan->leftovers) {
    if (auto removed = disk_.remove(name); !removed) return removed;
  }
  if (!scan->segments.empty()) {
    for (const ScannedSegment& segment : scan->segments) segments_[segment.first] = segment.name;
    const ScannedSegment& last = scan->segments.back();
    auto file = disk_.open(last.name);
    if (!file) return file.error();
    file_ = *std::move(file);
    end_ = ahead_ = last.end;
    next_ = last.next;
    // Later records must not join what a crash has left of the last commit.
    if (last.used > last.end) {
      Buffer zeros;
      zeros.resize(static_cast<std::size_t>(last.used - last.end));
      std::memset(zeros.data(), 0, zeros.size());
      if (auto cleared = file_->write(last.end, zeros); !cleared) return cleared;
    }
    // What was read may only lie in the kernel's memory, if it was the process that ended.
    if (auto synced = file_->sync(); !synced) return synced;
  }
  // A file that a crash has left must not come back beside those that are made from now on.
  if (auto synced = disk_.sync_names(); !synced) return synced;
  durable_ = next_;
  floor_ = wanted_floor_ = scan->floor;
  if (auto settled = settle(); !settled) return settled;
  condition_ = {scan->cut,
                scan->segments.empty() ? next_ : std::max(scan->floor, scan->segments[0].first),
                next_};
  return Done{};
}

Result<LogSequence> LogFile::commit(LogGroup& group, bool idle) {
  if (!dead_.empty()) return Error{Errc::io, dead_};
  ENSURE(!group.empty());
  floor_ = std::min(wanted_floor_, durable_);
  auto done = write_group(group);
  if (done) done = write_ahead();
  if (done) done = sync();
  if (done && idle) done = mark_end();
  if (done) done = drop_segments();
  if (!done) return died(done.error());
  group.clear();
  return next_ - 1;
}

// This mark is not written over: what it says about the floor must not be lost with the group that
// comes next.
Result<Done> LogFile::settle() {
  if (!dead_.empty()) return Error{Errc::io, dead_};
  floor_ = std::min(wanted_floor_, durable_);
  if (!file_ || end_ + seal_bytes > file_->bytes()) return Done{};
  auto done = mark_end();
  end_ += seal_bytes;
  if (done) done = sync();
  if (done) done = drop_segments();
  if (!done) return died(done.error());
  return done;
}

void LogFile::truncate(LogSequence floor) { wanted_floor_ = std::max(wanted_floor_, floor); }

// The rest of each header is only known now. Records that follow each other are one write.
Result<Done> LogFile::write_group(LogGroup& group) {
  ENSURE(!group.open_);
  const std::span<std::byte> all(group.bytes_.data(), group.bytes_.size());
  std::size_t run = 0;
  for (std::size_t at = 0; at < all.size();) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, &all[at], sizeof bytes);
    const std::size_t room = record_room(bytes);
    if (!file_ || end_ + (at - run) + room + seal_bytes > file_->bytes()) {
      if (auto written = write_run(all.subspan(run, at - run)); !written) return written;
      if (auto begun = begin_segment(room); !begun) return begun;
      run = at;
    }
    seal_record({next_, durable_, floor_, bytes, RecordKind::data}, all.subspan(at, room));
    next_ += 1;
    at += room;
  }
  return write_run(all.subspan(run));
}

Result<Done> LogFile::write_run(Bytes run) {
  if (run.empty()) return Done{};
  auto written = file_->write(end_, run);
  end_ += run.size();
  return written;
}

// That a file has a successor says that all of it is durable.
Result<Done> LogFile::begin_segment(std::size_t record_bytes) {
  if (file_) {
    if (auto synced = file_->sync(); !synced) return synced;
  }
  const std::string name = segment_name(next_);
  const std::uint64_t least = segment_header_bytes + record_bytes + seal_bytes;
  auto file = disk_.create(name, std::max(settings_.segment_bytes, least));
  if (!file) return file.error();
  file_ = *std::move(file);
  segments_[next_] = name;
  new_names_ = true;
  end_ = ahead_ = segment_header_bytes;
  return file_->write(0, encode(SegmentHeader{settings_.owner, next_, floor_}));
}

Result<Done> LogFile::write_ahead() {
  if (settings_.ahead_bytes == 0 || ahead_ >= end_ + settings_.ahead_bytes / 2) return Done{};
  if (zeros_.empty()) {
    zeros_.resize(static_cast<std::size_t>(settings_.ahead_bytes));
    std::memset(zeros_.data(), 0, zeros_.size());
  }
  const std::uint64_t from = std::max(ahead_, end_);
  ahead_ = std::min(file_->bytes(), end_ + settings_.ahead_bytes);
  if (ahead_ <= from) return Done{};
  return file_->write(from, Bytes(zeros_).first(static_cast<std::size_t>(ahead_ - from)));
}

Result<Done> LogFile::mark_end() {
  std::array<std::byte, seal_bytes> seal{};
  seal_record({next_, durable_, floor_, 0, RecordKind::seal}, seal);
  return file_->write(end_, seal);
}

Result<Done> LogFile::sync() {
  if (auto synced = file_->sync(); !synced) return synced;
  if (std::exchange(new_names_, false)) {
    if (auto synced = disk_.sync_names(); !synced) return synced;
  }
  durable_ = next_;
  return Done{};
}

// The records that are durable now say that nothing before `floor_` is needed.
Result<Done> LogFile::drop_segments() {
  while (segments_.size() > 1 && std::next(segments_.begin())->first <= floor_) {
    if (auto removed = disk_.remove(segments_.begin()->second); !removed) return removed;
    segments_.erase(segments_.begin());
  }
  return Done{};
}

// What is on the disk is not known any more, and a sync that succeeds would not change that.
Error LogFile::died(const Error& error) {
  dead_ = concat(error.message, ": the log is closed until a restart");
  file_.reset();
  return Error{Errc::io, dead_};
}

}  // namespace piracema::store
