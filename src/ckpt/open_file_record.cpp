#include "ckpt/open_file_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "ckpt/capsule_setup.h"
#include "ckpt/helper.h"
#include "ckpt/image_store.h"
#include "ckpt/mapped_program.h"
#include "ckpt/process_tree.h"
#include "store/files.h"

namespace piracema::ckpt {

namespace {

Error io_error(const std::string& path, std::string_view what) {
  return {Errc::io, with_errno(concat(path, ": ", what))};
}

// Sparse where the source is: what is not data is left out.
Result<Done> copy_file(const std::string& from, const std::string& to, int flags) {
  const Fd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600));
  struct stat status {};
  if (!in || ::fstat(in.get(), &status) != 0) return io_error(from, "cannot read");
  if (!out || ::ftruncate(out.get(), 0) != 0 || ::ftruncate(out.get(), status.st_size) != 0) {
    return io_error(to, "cannot write");
  }
  std::vector<char> room(std::size_t{1} << 20);
  for (off_t at = 0; at < status.st_size;) {
    const off_t data = ::lseek(in.get(), at, SEEK_DATA);
    if (data < 0) break;
    off_t end = ::lseek(in.get(), data, SEEK_HOLE);
    if (end < 0) end = status.st_size;
    for (at = data; at < end;) {
      const auto want = std::min(room.size(), static_cast<std::size_t>(end - at));
      const ssize_t count = ::pread(in.get(), room.data(), want, at);
      if (count <= 0) return io_error(from, "cannot read");
      if (::pwrite(out.get(), room.data(), static_cast<std::size_t>(count), at) != count) {
        return io_error(to, "cannot write");
      }
      at += count;
    }
  }
  return Done{};
}

// What is only appended to is as it was once it is cut; anything else may be overwritten later. A
// file that is written at its end and never read is taken for a log.
bool may_be_overwritten(const OpenFile& file) {
  return file.writable && !file.append && (file.readable || file.position < file.bytes);
}

// What the kernel has to say of a process is not there before the process is: criu opens it again.
bool is_of_the_user(const OpenFile& file) {
  return file.regular && !file.of_kernel && file.links > 0 && file.target.starts_with('/') &&
         !file.target.starts_with("/dev/shm/");
}

}  // namespace

Result<Record> record_job(pid_t root, const std::string& parts) {
  Record record{.root = static_cast<std::uint32_t>(root),
                .resident_bytes = job_memory(root).resident};
  const auto last = last_pid();
  if (!last) return last.error();
  record.last_pid = static_cast<std::uint32_t>(*last);
  std::map<std::string, FileRecord> by_path;
  std::vector<pid_t> processes;
  for (const JobProcess& process : tree_of(all_processes(), root)) {
    processes.push_back(process.pid);
    for (const OpenFile& file : open_files(process.pid)) {
      if (!is_of_the_user(file)) continue;
      FileRecord& one = by_path[file.target];
      one.path = file.target;
      one.bytes = file.bytes;
      one.writable = one.writable || file.writable;
      if (!may_be_overwritten(file) || !one.copy.empty()) continue;
      if (file.bytes > copied_bytes_max) {
        return Error{Errc::failed, concat(file.target, ": overwritten by the job and larger than ",
                                          human_bytes(static_cast<double>(copied_bytes_max)),
                                          ", which is what is copied")};
      }
      one.copy = concat("copy-", by_path.size());
      if (auto done = copy_file(file.target, concat(parts, "/", one.copy), O_EXCL); !done)
        return done.error();
    }
  }
  for (auto& [path, file] : by_path) record.files.push_back(std::move(file));
  auto programs = mapped_programs(processes);
  if (!programs) return programs.error();
  record.programs = *std::move(programs);
  return record;
}

Result<Done> sync_files_of(const Record& record) {
  std::set<std::string> directories;
  for (const FileRecord& file : record.files) {
    if (!file.writable || !file.copy.empty()) continue;
    const Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
    // Somebody has removed it since, and a restart will say so.
    if (!fd && errno == ENOENT) continue;
    if (!fd || ::fsync(fd.get()) != 0) return io_error(file.path, "cannot sync");
    directories.insert(std::filesystem::path(file.path).parent_path());
  }
  for (const std::string& directory : directories) {
    if (auto synced = store::sync_directory(directory); !synced) return synced;
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
      return io_error(file.path, "cannot cut");
    }
  }
  return Done{};
}

Result<Record> read_record_of(const std::string& parts) {
  const std::string path = concat(parts, "/", std::string_view(ImageStore::record_name));
  const auto text = store::read_file(path, document_bytes_max);
  if (!text) return text.error();
  return decode_record(path, *text);
}

Result<std::uint32_t> roll_back_part(const std::string& parts) {
  const auto record = read_record_of(parts);
  if (!record) return record.error();
  if (auto done = roll_back(*record, parts); !done) return done.error();
  return record->root;
}

namespace {

Result<Done> run_tar(const std::vector<std::string>& words) {
  const auto end = run_helper(words);
  if (!end) return end.error();
  if (end->status != 0) return Error{Errc::io, concat("/dev/shm: ", last_line(end->output))};
  return Done{};
}

std::string archive_in(const std::string& parts) {
  return concat(parts, "/", std::string_view(shared_memory_part));
}

}  // namespace

// -S: what nobody has written takes no room.
Result<Done> save_shared_memory(const std::string& parts) {
  return run_tar({"tar", "-S", "--numeric-owner", "-C", "/dev/shm", "-cf", archive_in(parts), "."});
}

Result<Done> put_shared_memory_back(const std::string& parts) {
  return run_tar(
      {"tar", "-S", "--numeric-owner", "-p", "-C", "/dev/shm", "-xf", archive_in(parts)});
}

}  // namespace piracema::ckpt
