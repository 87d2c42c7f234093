#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <string>

#include "ckpt/manifest.h"

/// Files that a job has open are not in its image; they have to be as they were when it goes on.
namespace piracema::ckpt {

/// /dev/shm of the capsule, but for its sockets, which are criu's.
constexpr const char* shared_memory_part = "shm.tar";
/// Files that are overwritten (not only appended to) are copied into the image up to this size.
constexpr std::uint64_t copied_bytes_max = std::uint64_t{1} << 30;

/// Of a job that is frozen, from inside of its capsule; copies go to the directory of the image's
/// parts. Errc::io; Errc::failed for a file that would have to be copied and is too large.
Result<Record> record_job(pid_t root, const std::string& parts);

/// What the job has written to its files survives a crash, up to what was recorded: an image that
/// is on the disk is worth nothing if they are not. Errc::io.
Result<Done> sync_files_of(const Record& record);

/// Before a restore: files that have grown are cut to the size they had, copies put back. Checks
/// all before it changes any. Errc::failed naming one that is missing or too short, that was only
/// read and has another size, or a program that is not what it was.
Result<Done> roll_back(const Record& record, const std::string& parts);

/// What was recorded, from among an image's parts. Errc::io, Errc::corrupt.
Result<Record> read_record_of(const std::string& parts);

/// `roll_back` for the parts of one of several hosts, by the record among them: gives the number of
/// the first process there. Errc::corrupt, too.
Result<std::uint32_t> roll_back_part(const std::string& parts);

/// Of the capsule in which the caller is, to and from the image's parts. Errc::io, or Errc::config
/// without tar.
Result<Done> save_shared_memory(const std::string& parts);
Result<Done> put_shared_memory_back(const std::string& parts);

}  // namespace piracema::ckpt
