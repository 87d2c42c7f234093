#include "ckpt/image/part_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/image_parts.h"
#include "wire/checksum.h"

namespace piracema::ckpt {

namespace {

constexpr std::uint64_t synced_bytes = std::uint64_t{32} << 20;

bool is_zero(Bytes piece) {
  return std::ranges::all_of(piece, [](std::byte one) { return one == std::byte{0}; });
}

}  // namespace

Result<PartWriter> PartWriter::create(const std::string& directory, const ImagePart& part) {
  std::string path = concat(directory, "/", part.name);
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(part.bytes)) != 0)
    return io_error(path, "cannot write");
  return PartWriter(std::move(file), std::move(path), part);
}

std::size_t PartWriter::wanted() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(part_piece_bytes, part_.bytes - at_));
}

Result<Done> PartWriter::append(Bytes piece) {
  ENSURE(piece.size() == wanted());
  wire::Writer(sums_).number(wire::checksum(piece));
  if (auto written = write(piece); !written) return written;
  at_ += piece.size();
  unsynced_ += piece.size();
  return unsynced_ < synced_bytes ? Done{} : sync();
}

// A hole stays one.
Result<Done> PartWriter::write(Bytes piece) {
  if (is_zero(piece)) return Done{};
  for (std::uint64_t at = at_; !piece.empty();) {
    const ssize_t count = retry(
        [&] { return ::pwrite(file_.get(), piece.data(), piece.size(), static_cast<off_t>(at)); });
    if (count < 0) return io_error(path_, "cannot write");
    piece = piece.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return Done{};
}

Result<Done> PartWriter::sync() {
  unsynced_ = 0;
  if (retry([&] { return ::fdatasync(file_.get()); }) < 0) return io_error(path_, "cannot sync");
  return Done{};
}

Result<bool> PartWriter::finish() {
  ENSURE(wanted() == 0);
  if (auto synced = sync(); !synced) return synced.error();
  return wire::checksum(sums_) == part_.checksum;
}

}  // namespace piracema::ckpt
