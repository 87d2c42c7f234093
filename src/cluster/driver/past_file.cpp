#include "cluster/driver/past_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "store/disk/files.h"
#include "wire/checksum.h"
#include "wire/fields.h"
#include "wire/reader.h"

namespace piracema::cluster {

namespace {

constexpr std::uint64_t past_bytes_max = std::uint64_t{16} << 20;

struct Left {
  std::string token;
  PastOfJob past;
  auto fields() { return std::tie(token, past); }
};

std::string past_in(const std::string& snapshots) { return snapshots + "/coordinator/past"; }

/// Whoever reads it sees what was there before, or all of it, unless the machine stops.
bool put(const std::string& path, Bytes bytes) {
  const std::string unnamed = path + ".new";
  const Fd file(
      ::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return false;
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return ::rename(unnamed.c_str(), path.c_str()) == 0;
}

}  // namespace

PastFile::PastFile(const std::string& snapshots, std::string token)
    : path_(past_in(snapshots)), token_(std::move(token)) {}

void PastFile::write(const PastOfJob& past) {
  Buffer bytes = wire::encode(Left{token_, past});
  const std::uint64_t sum = wire::checksum(bytes);
  wire::Writer(bytes).number(sum);
  if (put(path_, bytes) || std::exchange(said_, true)) return;
  log(Level::warning, concat(with_errno(path_),
                             ": the page of another coordinator would not show what was before"));
}

std::optional<PastOfJob> PastFile::find(const std::string& snapshots, const std::string& token) {
  const auto file = store::read_file(past_in(snapshots), past_bytes_max);
  if (!file || file->size() < sizeof(std::uint64_t)) return std::nullopt;
  const Bytes content = Bytes(*file).first(file->size() - sizeof(std::uint64_t));
  wire::Reader sum(Bytes(*file).subspan(content.size()));
  if (sum.number<std::uint64_t>() != wire::checksum(content)) return std::nullopt;
  auto left = wire::decode<Left>(content);
  // An earlier job may have left it in the same directory.
  if (!left || left->token != token) return std::nullopt;
  return std::move(left->past);
}

Result<Done> PastFile::remove(const std::string& snapshots) {
  for (const std::string& path : {past_in(snapshots), past_in(snapshots) + ".new"}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Error{Errc::io, with_errno(path)};
  }
  return Done{};
}

}  // namespace piracema::cluster
