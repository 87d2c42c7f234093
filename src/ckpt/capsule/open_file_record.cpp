#include "ckpt/capsule/open_file_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "ckpt/capsule/capsule_setup.h"
#include "ckpt/image/file_copy.h"
#include "ckpt/image/image_store.h"
#include "ckpt/image/mapped_program.h"
#include "os/process_tree.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

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

constexpr std::string_view deleted_ending = " (deleted)";

// A capsule's own /dev/shm is new with each restart.
bool is_deleted(const OpenFile& file) {
  return file.regular && file.links == 0 && file.target.starts_with('/') &&
         file.target.ends_with(deleted_ending) && !file.target.starts_with("/dev/shm/");
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
      if (is_deleted(file)) {
        record.deleted.push_back(file.target.substr(0, file.target.size() - deleted_ending.size()));
      }
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

Result<Record> read_record_of(const std::string& parts) {
  const std::string path = concat(parts, "/", std::string_view(ImageStore::record_name));
  const auto text = store::read_file(path, document_bytes_max);
  if (!text) return text.error();
  return decode_record(path, *text);
}

}  // namespace piracema::ckpt
