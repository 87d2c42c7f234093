#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>

#include "ckpt/image/manifest.h"

/// Files that a job has open are not in its image; they have to be as they were when it goes on.
namespace piracema::ckpt {

/// Files that are overwritten (not only appended to) are copied into the image up to this size.
constexpr std::uint64_t copied_bytes_max = std::uint64_t{1} << 30;

/// Of a job that is frozen, from inside of its capsule; copies go to the directory of the image's
/// parts. Errc::io; Errc::failed for a file that would have to be copied and is too large.
Result<Record> record_job(pid_t root, const std::string& parts);

/// What the job has written to its files survives a crash, up to what was recorded: an image that
/// is on the disk is worth nothing if they are not. Errc::io.
Result<Done> sync_files_of(const Record& record);

/// What was recorded, from among an image's parts. Errc::io, Errc::corrupt.
Result<Record> read_record_of(const std::string& parts);

}  // namespace piracema::ckpt
