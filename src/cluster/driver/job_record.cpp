#include "cluster/driver/job_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "net/session/handshake.h"
#include "store/disk/files.h"
#include "wire/checksum.h"
#include "wire/fields.h"
#include "wire/reader.h"

namespace piracema::cluster {

namespace {

constexpr std::uint32_t magic = 0x4a524950;           // "PIRJ"
constexpr std::uint32_t magic_given_up = 0x58524950;  // "PIRX"
constexpr std::uint32_t format_version = 1;
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30;
// A file that has grown to so many times what it began with is written anew.
constexpr std::uint64_t growth_max = 8, rewrite_from = std::uint64_t{1} << 20;
// Clocks of two hosts, and the time between two signs of life.
constexpr std::chrono::seconds slack{5};

struct Head {
  std::string token;
  std::uint64_t keep_ms = 0;
  auto fields() { return std::tie(token, keep_ms); }
};

std::string path_in(const std::string& snapshots) { return snapshots + "/coordinator/job"; }

Error io_error(const std::string& path) { return {Errc::io, with_errno(path)}; }
Error damaged(const std::string& path, std::string_view why) {
  return {Errc::corrupt, concat(path, ": want the record of a job, found ", why)};
}

/// A record: how long it is, its checksum, and what it holds.
void put_record(Buffer& out, Bytes content) {
  wire::Writer writer(out);
  writer.number(static_cast<std::uint64_t>(content.size()));
  writer.number(wire::checksum(content));
  writer.raw(content);
}

/// The next one, or nothing for one that is not whole, which the reader is behind then.
std::optional<Bytes> next_record(wire::Reader& reader) {
  const auto bytes = reader.number<std::uint64_t>();
  const auto sum = reader.number<std::uint64_t>();
  const Bytes content = reader.raw(bytes);
  if (!reader.ok() || wire::checksum(content) != sum) return std::nullopt;
  return content;
}

}  // namespace

bool JobRecord::Found::is_over(std::chrono::system_clock::time_point now) const {
  return now - seen > keep + slack;
}

Result<std::optional<JobRecord::Found>> JobRecord::find(const std::string& snapshots) {
  const std::string path = path_in(snapshots);
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  auto file = store::read_file(path, bytes_max);
  if (!file) {
    if (file.error().code == Errc::not_found) return std::optional<Found>{};
    return file.error();
  }
  Found found;
  if (there) {
    found.seen = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::seconds(status.st_mtim.tv_sec) +
            std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
  }
  wire::Reader reader(*file);
  const auto kind = reader.number<std::uint32_t>();
  const auto version = reader.number<std::uint32_t>();
  if (!reader.ok() || (kind != magic && kind != magic_given_up)) {
    return damaged(path, "something else");
  }
  if (version != format_version) {
    return Error{Errc::refused,
                 concat(path, ": want version ", format_version, ", found ", version)};
  }
  const auto first = next_record(reader);
  const auto second = first ? next_record(reader) : std::nullopt;
  if (!second) return damaged(path, "one without a beginning");
  const auto head = wire::decode<Head>(*first);
  if (!head || !net::is_token(head->token)) return damaged(path, "a head that is none");
  found.token = head->token;
  found.keep = std::chrono::milliseconds(head->keep_ms);
  if (kind == magic_given_up) return std::optional(std::move(found));
  auto metadata = JobMetadata::decode(*second);
  if (!metadata) return damaged(path, metadata.error().message);
  while (reader.left() != 0) {
    const auto record = next_record(reader);
    if (!record) {
      // Each is durable before the next: one that is whole behind it shows that it was, too.
      if (reader.left() != 0 && next_record(reader)) {
        return damaged(path, "decisions behind one that is damaged");
      }
      break;
    }
    auto decisions = decode_decisions(*record);
    if (!decisions) return damaged(path, decisions.error().message);
    for (const Decision& decision : *decisions) {
      if (auto applied = metadata->apply(decision); !applied) {
        return damaged(path, applied.error().message);
      }
    }
  }
  found.metadata = *std::move(metadata);
  return std::optional(std::move(found));
}

Result<Done> JobRecord::remove(const std::string& snapshots) {
  const std::string path = path_in(snapshots);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error(path);
  return Done{};
}

Result<JobRecord> JobRecord::begin(const std::string& snapshots, const std::string& token,
                                   std::chrono::milliseconds keep, const JobMetadata& metadata) {
  const std::string folder = snapshots + "/coordinator";
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return io_error(folder);
  // The key of the job is in it.
  if (::chmod(folder.c_str(), 0700) != 0) return io_error(folder);
  // Its own name as well: what is in a folder that nobody finds is not durable.
  if (auto synced = store::sync_directory(snapshots); !synced) return synced.error();
  JobRecord record(path_in(snapshots), token, keep);
  if (auto written = record.write(metadata); !written) return written.error();
  return record;
}

Result<Done> JobRecord::write(const JobMetadata& metadata) {
  Head head{token_, static_cast<std::uint64_t>(keep_.count())};
  Buffer out;
  wire::Writer writer(out);
  writer.number(magic);
  writer.number(format_version);
  Buffer first;
  wire::FieldWriter(first).put(head);
  put_record(out, first);
  put_record(out, metadata.encode());
  const Bytes bytes(out);
  if (auto replaced = store::replace_file(path_, std::span(&bytes, 1)); !replaced) return replaced;
  if (auto synced = store::sync_directory(path_.substr(0, path_.rfind('/'))); !synced) {
    return synced;
  }
  file_ = Fd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file_) return io_error(path_);
  bytes_ = first_bytes_ = out.size();
  return Done{};
}

Result<Done> JobRecord::add(const std::vector<Decision>& decisions, const JobMetadata& now) {
  if (bytes_ > std::max(rewrite_from, growth_max * first_bytes_)) return write(now);
  Buffer out;
  put_record(out, encode_decisions(decisions));
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t count = ::pwrite(file_.get(), out.data() + done, out.size() - done,
                                   static_cast<off_t>(bytes_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return io_error(path_);
    done += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file_.get()) != 0) return io_error(path_);
  bytes_ += out.size();
  return Done{};
}

void JobRecord::give_up() {
  const std::uint32_t mark = magic_given_up;
  if (!file_ || ::pwrite(file_.get(), &mark, sizeof mark, 0) != sizeof mark ||
      ::fdatasync(file_.get()) != 0) {
    log(Level::warning, with_errno(path_));
  }
}

void JobRecord::show_life() {
  if (file_) ::futimens(file_.get(), nullptr);
}

}  // namespace piracema::cluster
