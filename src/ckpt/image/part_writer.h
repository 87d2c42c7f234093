#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "ckpt/image/manifest.h"
#include "wire/writer.h"

namespace piracema::ckpt {

/// Writes a part of an image to a new file, and sums it up. Synced as it grows, so that whoever
/// ends this process does not wait for a disk. Where there is nothing but zeros it has holes.
class PartWriter {
 public:
  /// Errc::io.
  static Result<PartWriter> create(const std::string& directory, const ImagePart& part);

  /// How long the next piece is: part_piece_bytes, or what is left; 0 at the end.
  std::size_t wanted() const;
  /// A piece of that length. Errc::io.
  Result<Done> append(Bytes piece);
  /// After the last piece: syncs it. Whether it is the part, by its checksum. Errc::io.
  Result<bool> finish();

 private:
  PartWriter(Fd file, std::string path, const ImagePart& part)
      : file_(std::move(file)), path_(std::move(path)), part_(part) {}
  Result<Done> write(Bytes piece);
  Result<Done> sync();

  Fd file_;
  std::string path_;
  ImagePart part_;
  std::uint64_t at_ = 0, unsynced_ = 0;
  Buffer sums_;
};

}  // namespace piracema::ckpt
