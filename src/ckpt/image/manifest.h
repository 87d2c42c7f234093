#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <vector>

/// The two documents of an image, in JSON; docs/formats/checkpoint_image.md.
namespace piracema::ckpt {

/// Numbers the images of a job, from 1 on.
using ImageId = std::uint64_t;

/// A file of the image.
struct ImagePart {
  std::string name;
  std::uint64_t bytes = 0, checksum = 0;
};

/// What makes an image complete, by being there.
struct Manifest {
  ImageId image = 0;
  /// Of the job whose image it is: a number drawn when the job began.
  std::uint64_t job = 0;
  /// Seconds since 1970.
  std::uint64_t created = 0;
  std::vector<ImagePart> parts;

  std::uint64_t bytes() const;
};

/// A file of the user's that the job had open when it was frozen.
struct FileRecord {
  std::string path;
  std::uint64_t bytes = 0;
  bool writable = false;
  /// The part of the image that has its content; empty where its size is enough to go back.
  std::string copy;
};

/// A file whose code the job had mapped: its executable, or a library.
struct ProgramRecord {
  std::string path;
  std::uint64_t bytes = 0;
  /// The checksum of its first 4 KiB, its build ID among them.
  std::uint64_t build = 0;
};

/// What was noted while the job was frozen.
struct Record {
  /// The first process of the job.
  std::uint32_t root = 0;
  /// The last process number that was given: those given after a restart are higher.
  std::uint32_t last_pid = 0;
  std::uint64_t resident_bytes = 0;
  std::vector<FileRecord> files;
  /// Where files lay that it had open and that were deleted; none in an older image. criu makes
  /// them there again for the time of a restart, which may be cut short.
  std::vector<std::string> deleted;
  /// Empty in an image that was made before these were noted.
  std::vector<ProgramRecord> programs;
};

std::string encode_manifest(const Manifest&);
/// `text` may hold anything. Errc::corrupt for what is not the manifest of this image,
/// Errc::refused for another version; messages begin with `file`.
Result<Manifest> decode_manifest(const std::string& file, Bytes text, ImageId image);

std::string encode_record(const Record&);
Result<Record> decode_record(const std::string& file, Bytes text);

}  // namespace piracema::ckpt
