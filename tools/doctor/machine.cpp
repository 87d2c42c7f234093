#include "tools/doctor/machine.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "os/helper.h"
#include "os/process.h"
#include "state/disk/rocks.h"

namespace piracema::tools {

namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string line_of_file(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Empty if there is no such program, or it fails.
std::string version_of(const std::vector<std::string>& command) {
  const auto end = ckpt::run_helper(command);
  return end && end->status == 0 ? first_line(end->output) : "";
}

std::optional<std::uint64_t> shm_free() {
  struct statvfs room {};
  if (::statvfs("/dev/shm", &room) != 0) return std::nullopt;
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

std::optional<bool> clock_follows() {
  struct timex question {};  // No modes: nothing is set.
  const int state = ::adjtimex(&question);
  if (state < 0) return std::nullopt;
  return state != TIME_ERROR && (question.status & STA_UNSYNC) == 0;
}

bool is_there(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

}  // namespace

Machine look_at_machine() {
  Machine machine;
  machine.root = ::geteuid() == 0;
  machine.cores = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  machine.shm_free = shm_free();
  struct rlimit files {};
  ::getrlimit(RLIMIT_NOFILE, &files);
  machine.files = files.rlim_cur;
  machine.files_most = files.rlim_max;
  machine.clock_follows = clock_follows();
  machine.congestion = line_of_file("/proc/sys/net/ipv4/tcp_congestion_control");
  machine.congestion_choices = line_of_file("/proc/sys/net/ipv4/tcp_available_congestion_control");
  if (const auto ssh = cluster::find_program("ssh")) machine.ssh = *ssh;
  machine.compiler = version_of({"c++", "--version"});
  machine.slurm = version_of({"sinfo", "--version"});
  machine.libraries = {
      {"libmicrohttpd", "--http", "libmicrohttpd-dev", is_there("libmicrohttpd.so.12")},
      {"libcurl", "--snapshots s3://... and webhdfs://...", "libcurl4-openssl-dev", is_there("libcurl.so.4")},
      {"librocksdb", "--state-directory", "librocksdb-dev", state::Rocks::load().ok()}};
  return machine;
}

}  // namespace piracema::tools
