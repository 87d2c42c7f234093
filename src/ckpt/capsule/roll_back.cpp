#include "ckpt/capsule/roll_back.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.h"
#include "ckpt/capsule/open_file_record.h"
#include "ckpt/image/file_copy.h"
#include "ckpt/image/mapped_program.h"

namespace piracema::ckpt {

Result<Done> remove_names_for_a_while(const Record& record) {
  for (const std::string& path : record.deleted) {
    const std::filesystem::path place = std::filesystem::path(path).parent_path();
    const std::string begin = concat(std::filesystem::path(path).filename().string(), ".cr.");
    std::error_code why;
    for (const auto& entry : std::filesystem::directory_iterator(place, why)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(begin) || !name.ends_with(".ghost")) continue;
      if (::unlink(entry.path().c_str()) != 0 && errno != ENOENT) {
        return Error{Errc::io, with_errno(concat(entry.path().string(), ": cannot remove"))};
      }
    }
  }
  return Done{};
}

Result<Done> roll_back(const Record& record, const std::string& parts) {
  if (auto same = check_programs(record.programs); !same) return same;
  for (const FileRecord& file : record.files) {
    struct stat status {};
    if (::stat(file.path.c_str(), &status) != 0) {
      if (!file.copy.empty() && errno == ENOENT) continue;
      return Error{Errc::failed, with_errno(concat(file.path, ": the job had it open"))};
    }
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (!S_ISREG(status.st_mode) ||
        (file.copy.empty() && (bytes < file.bytes || (!file.writable && bytes != file.bytes)))) {
      return Error{Errc::failed, concat(file.path, ": the job had it open with ", file.bytes,
                                        " bytes, now it has ", bytes, ": another file?")};
    }
  }
  for (const FileRecord& file : record.files) {
    if (!file.copy.empty()) {
      if (auto done = copy_file(concat(parts, "/", file.copy), file.path, 0); !done) return done;
    } else if (file.writable &&
               ::truncate(file.path.c_str(), static_cast<off_t>(file.bytes)) != 0) {
      return Error{Errc::io, with_errno(concat(file.path, ": cannot cut"))};
    }
  }
  return remove_names_for_a_while(record);
}

bool is_rolled_back(const Record& record) {
  return std::all_of(record.files.begin(), record.files.end(), [](const FileRecord& file) {
    struct stat status {};
    return file.copy.empty() && ::stat(file.path.c_str(), &status) == 0 &&
           static_cast<std::uint64_t>(status.st_size) == file.bytes;
  });
}

Result<std::uint32_t> roll_back_part(const std::string& parts) {
  const auto record = read_record_of(parts);
  if (!record) return record.error();
  if (auto done = roll_back(*record, parts); !done) return done.error();
  return record->root;
}

}  // namespace piracema::ckpt
