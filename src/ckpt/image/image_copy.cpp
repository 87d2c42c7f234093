#include "ckpt/image/image_copy.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/hex.h"
#include "base/parse.h"
#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/image_parts.h"
#include "store/disk/files.h"
#include "store/document.h"
#include "wire/checksum.h"
#include "wire/writer.h"

namespace piracema::ckpt {

namespace {

constexpr std::uint64_t synced_bytes = std::uint64_t{32} << 20;

bool is_zero(Bytes piece) {
  return std::ranges::all_of(piece, [](std::byte one) { return one == std::byte{0}; });
}

// A hole stays one.
Result<Done> write_at(int fd, const std::string& path, std::uint64_t at, Bytes piece) {
  if (is_zero(piece)) return Done{};
  while (!piece.empty()) {
    const ssize_t count =
        retry([&] { return ::pwrite(fd, piece.data(), piece.size(), static_cast<off_t>(at)); });
    if (count < 0) return io_error(path, "cannot write");
    piece = piece.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return Done{};
}

Result<Done> sync(int fd, const std::string& path) {
  if (retry([&] { return ::fdatasync(fd); }) < 0) return io_error(path, "cannot sync");
  return Done{};
}

Result<Done> copy_part(const std::string& from, const std::string& to, const ImagePart& part) {
  const auto in = store::open_for_reading(concat(from, "/", part.name));
  if (!in) return in.error();
  const std::string path = concat(to, "/", part.name);
  const auto wrong = [&](const auto&... what) {
    return Error{Errc::corrupt, concat(in->path, ": ", what...)};
  };
  if (in->bytes != part.bytes) return wrong("want ", part.bytes, " bytes, found ", in->bytes);
  const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out || ::ftruncate(out.get(), static_cast<off_t>(part.bytes)) != 0)
    return io_error(path, "cannot write");
  Buffer piece, sums;
  wire::Writer writer(sums);
  std::uint64_t unsynced = 0;
  for (std::uint64_t at = 0; at < part.bytes; at += part_piece_bytes) {
    piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(part_piece_bytes, part.bytes - at)));
    if (auto read = store::read_at(*in, at, {piece.data(), piece.size()}); !read) return read;
    writer.number(wire::checksum(piece));
    if (auto written = write_at(out.get(), path, at, piece); !written) return written;
    unsynced += piece.size();
    if (unsynced < synced_bytes) continue;
    if (auto synced = sync(out.get(), path); !synced) return synced;
    unsynced = 0;
  }
  if (wire::checksum(sums) != part.checksum) return wrong("the checksum differs");
  return sync(out.get(), path);
}

}  // namespace

Result<Done> copy_image(const std::string& from, const std::string& to, const Manifest& manifest) {
  for (const ImagePart& part : manifest.parts) {
    if (auto copied = copy_part(from, to, part); !copied) return copied;
  }
  return store::sync_directory(to);
}

std::vector<std::string> copy_command(const std::string& program, const std::string& from,
                                      const std::string& to, const std::string& manifest) {
  return {program, "ckpt", "copy", from, to, manifest, std::to_string(::getpid())};
}

int run_copy(const std::vector<std::string>& words) {
  const auto fail = [](const std::string& why) {
    std::printf("%s\n", why.c_str());
    return 1;
  };
  if (words.size() != 4) return 2;
  // Whoever waits for it may have ended before it was so bound.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(::getppid()) != words[3]) return 2;
  // The job comes first.
  (void)!::nice(10);
  const std::string& path = words[2];
  const auto text = store::read_file(path, document_bytes_max);
  if (!text) return fail(text.error().message);
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto image = parse_number<ImageId>(name.substr(0, name.find('.')));
  const auto manifest = decode_manifest(path, *text, image.value_or(0));
  if (!manifest) return fail(manifest.error().message);
  const auto copied = copy_image(words[0], words[1], *manifest);
  return copied ? 0 : fail(copied.error().message);
}

}  // namespace piracema::ckpt
