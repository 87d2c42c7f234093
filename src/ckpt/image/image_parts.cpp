#include "ckpt/image/image_parts.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/hex.h"
#include "base/text.h"
#include "wire/checksum.h"
#include "wire/writer.h"

namespace piracema::ckpt {

namespace {

Result<std::vector<ImagePart>> sum_up(store::Disk& disk, const std::vector<std::string>& names) {
  std::vector<ImagePart> parts;
  for (const std::string& name : names) {
    auto file = disk.open(name);
    if (!file) return file.error();
    const auto checksum = checksum_of_part(**file);
    if (!checksum) return checksum.error();
    parts.push_back({name, (*file)->bytes(), *checksum});
  }
  return parts;
}

Result<Done> verify_part(store::Disk& disk, ImageId image, const ImagePart& part) {
  const auto wrong = [&](const auto&... what) {
    return Error{Errc::corrupt, concat("image ", image, ": ", what...)};
  };
  auto file = disk.open(part.name);
  if (!file) return wrong(file.error().message);
  if ((*file)->bytes() != part.bytes) {
    return wrong(part.name, ": want ", part.bytes, " bytes, found ", (*file)->bytes());
  }
  const auto checksum = checksum_of_part(**file);
  if (!checksum) return checksum.error();
  if (*checksum != part.checksum) {
    return wrong(part.name, ": the checksum differs: want ", store::to_hex(part.checksum),
                 ", found ", store::to_hex(*checksum));
  }
  return Done{};
}

}  // namespace

Result<std::uint64_t> checksum_of_part(store::DiskFile& file) {
  Buffer piece, sums;
  wire::Writer writer(sums);
  for (std::uint64_t at = 0; at < file.bytes(); at += part_piece_bytes) {
    piece.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(part_piece_bytes, file.bytes() - at)));
    if (auto read = file.read(at, {piece.data(), piece.size()}); !read) return read.error();
    writer.number(wire::checksum(piece));
  }
  return wire::checksum(sums);
}

Result<std::vector<ImagePart>> seal_parts(store::Disk& disk) {
  const auto names = disk.list();
  if (!names) return names.error();
  // What a disk does to bytes on their way there is not in the checksums: they are of the bytes
  // that were to be written.
  Result<std::vector<ImagePart>> parts = std::vector<ImagePart>();
  const auto all_synced = disk.sync_files(*names, [&] { parts = sum_up(disk, *names); });
  if (!all_synced) return all_synced.error();
  if (!parts) return parts.error();
  if (auto synced = disk.sync_names(); !synced) return synced.error();
  return parts;
}

Manifest only_parts(const Manifest& manifest, bool memory) {
  Manifest some = manifest;
  std::erase_if(some.parts, [&](const ImagePart& part) {
    return (part.name.starts_with("pages-") && part.name.ends_with(".img")) != memory;
  });
  return some;
}

// The largest parts are of processes of one program, and so of one size: a thread each is enough.
Result<Done> verify_parts(store::Disk& disk, const Manifest& manifest, std::size_t readers) {
  std::vector<Result<Done>> done(manifest.parts.size(), Done{});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < done.size();) {
      done[i] = verify_part(disk, manifest.image, manifest.parts[i]);
    }
  };
  {
    std::vector<std::jthread> others;
    while (others.size() + 1 < std::min(readers, done.size())) others.emplace_back(work);
    work();
  }
  for (Result<Done>& one : done) {
    if (!one) return std::move(one);
  }
  return Done{};
}

}  // namespace piracema::ckpt
