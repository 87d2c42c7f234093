#include "os/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

std::string first_bytes_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Calls back with every name in the directory that is a number.
void for_numbers_in(const std::string& path, const std::function<void(int)>& call) {
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = ::readdir(directory)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) {
      call(std::atoi(entry->d_name));
    }
  }
  ::closedir(directory);
}

// proc(5): the name is in brackets and may hold anything, but ends with the last ')'.
bool read_stat(JobProcess& process) {
  const std::string text = first_bytes_of(concat("/proc/", process.pid, "/stat"));
  const std::size_t begin = text.find('('), end = text.rfind(')');
  if (begin == text.npos || end == text.npos || end + 4 > text.size()) return false;
  process.name = text.substr(begin + 1, end - begin - 1);
  char state = 0;
  std::istringstream rest(text.substr(end + 1));
  rest >> state >> process.parent;
  long pages = 0;
  std::ifstream memory(concat("/proc/", process.pid, "/statm"));
  memory >> pages >> pages;
  process.resident =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return !rest.fail() && state != 'Z';
}

// Devices that every machine has alike; criu knows them.
bool is_plain_device(const std::string& path) {
  static const std::set<std::string> plain = {"/dev/null",   "/dev/zero",    "/dev/full",
                                              "/dev/random", "/dev/urandom", "/dev/ptmx",
                                              "/dev/tty",    "/dev/pts/ptmx"};
  return plain.contains(path) || path.starts_with("/dev/pts/") || path.starts_with("/dev/shm/") ||
         path.starts_with("/dev/mqueue/") || path.starts_with("/dev/hugepages/");
}

bool cannot_be_saved(const OpenFile& file) {
  if (file.target.starts_with("/dev/")) return !is_plain_device(file.target);
  for (const char* kind : {"anon_inode:[io_uring]", "anon_inode:[userfaultfd]",
                           "anon_inode:[perf_event]", "anon_inode:bpf", "anon_inode:kvm"}) {
    if (file.target.starts_with(kind)) return true;
  }
  return false;
}

bool is_of_kernel(const std::string& name) {
  struct statfs system {};
  if (::statfs(name.c_str(), &system) != 0) return false;
  static const std::set<long> kinds = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,   CGROUP_SUPER_MAGIC,
                                       CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC};
  return kinds.contains(static_cast<long>(system.f_type));
}

}  // namespace

std::vector<JobProcess> all_processes() {
  std::vector<JobProcess> all;
  for_numbers_in("/proc", [&](int pid) {
    JobProcess process{.pid = pid};
    if (read_stat(process)) all.push_back(std::move(process));
  });
  return all;
}

std::vector<JobProcess> tree_of(const std::vector<JobProcess>& all, pid_t root) {
  std::set<pid_t> in = {root};
  for (bool grown = true; grown;) {
    grown = false;
    for (const JobProcess& process : all) {
      if (in.contains(process.parent)) grown = in.insert(process.pid).second || grown;
    }
  }
  std::vector<JobProcess> tree;
  for (const JobProcess& process : all) {
    if (in.contains(process.pid)) tree.push_back(process);
  }
  return tree;
}

std::vector<OpenFile> open_files(pid_t pid) {
  std::vector<OpenFile> files;
  const std::string place = concat("/proc/", pid);
  for_numbers_in(place + "/fd", [&](int fd) {
    OpenFile file{.pid = pid, .fd = fd};
    const std::string name = concat(place, "/fd/", fd);
    std::array<char, 4096> target;
    const ssize_t length = ::readlink(name.c_str(), target.data(), target.size());
    if (length <= 0) return;
    file.target.assign(target.data(), static_cast<std::size_t>(length));
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) return;
    file.regular = S_ISREG(status.st_mode);
    file.of_kernel = is_of_kernel(name);
    file.links = status.st_nlink;
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    std::ifstream info(concat(place, "/fdinfo/", fd));
    std::string key;
    unsigned flags = 0;
    info >> key >> file.position >> key >> std::oct >> flags;
    file.readable = (flags & O_ACCMODE) != O_WRONLY;
    file.writable = (flags & O_ACCMODE) != O_RDONLY;
    file.append = (flags & O_APPEND) != 0;
    files.push_back(std::move(file));
  });
  return files;
}

std::vector<std::string> obstacles(pid_t root, const std::vector<pid_t>& exempt) {
  std::vector<std::string> found;
  const auto all = all_processes();
  const auto tree = tree_of(all, root);
  for (const JobProcess& process : all) {
    const auto is_this = [&](const JobProcess& other) { return other.pid == process.pid; };
    if (std::any_of(tree.begin(), tree.end(), is_this) ||
        std::find(exempt.begin(), exempt.end(), process.pid) != exempt.end()) {
      continue;
    }
    found.push_back(concat("process ", process.pid, " (", process.name,
                           ") has left the job: its parent ended before it; a daemon is to run in "
                           "the foreground"));
  }
  for (const JobProcess& process : tree) {
    for (const OpenFile& file : open_files(process.pid)) {
      if (cannot_be_saved(file)) {
        found.push_back(
            concat("process ", process.pid, " (", process.name, ") has ", file.target, " open"));
      }
    }
  }
  return found;
}

JobMemory job_memory(pid_t root) {
  JobMemory sum;
  for (const JobProcess& process : tree_of(all_processes(), root)) {
    sum.resident += process.resident;
    sum.processes += 1;
    std::ifstream status(concat("/proc/", process.pid, "/status"));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmSwap:")) sum.swapped += std::stoull(line.substr(7)) * 1024;
    }
  }
  return sum;
}

// proc(5): lines of "Name:  NUMBER kB".
std::uint64_t written_memory(pid_t root) {
  std::uint64_t kib = 0;
  for (const JobProcess& process : tree_of(all_processes(), root)) {
    std::ifstream file(concat("/proc/", process.pid, "/smaps_rollup"));
    for (std::string line; std::getline(file, line);) {
      for (const std::string_view name : {"Pss_Anon:", "Pss_Shmem:", "SwapPss:"}) {
        if (line.starts_with(name)) kib += std::stoull(line.substr(name.size()));
      }
    }
  }
  return kib * 1024;
}

}  // namespace piracema::ckpt
