#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ckpt/image/manifest.h"
#include "store/disk/disk.h"

/// The files of one image.
namespace piracema::ckpt {

constexpr std::size_t part_piece_bytes = std::size_t{4} << 20;

/// Of a part: that of the checksums (XXH3, little endian) of its pieces of so many bytes. Errc::io,
/// Errc::corrupt.
Result<std::uint64_t> checksum_of_part(store::DiskFile& file);

/// Makes every file of the disk durable: a list of them with their checksums. Errc::io.
Result<std::vector<ImagePart>> seal_parts(store::Disk& disk);

/// Of an image, the parts that criu copies into the memory of processes as they are (`memory`), or
/// all others, which say what is made of what, or are read by us.
Manifest only_parts(const Manifest& manifest, bool memory);

/// Reads every byte, `readers` files at a time. Errc::corrupt naming the first part that is not
/// what the manifest says.
Result<Done> verify_parts(store::Disk& disk, const Manifest& manifest, std::size_t readers);

}  // namespace piracema::ckpt
