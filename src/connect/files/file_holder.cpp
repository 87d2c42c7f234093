#include "connect/files/file_holder.h"

#include <piracema/detail/restored.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace piracema::detail {

namespace {

// proc_locks(5): "3: FLOCK  ADVISORY  WRITE 1234 fe:00:1056 0 EOF", where fe:00 are hexadecimal.
std::string holder_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return "another process";
  char file[64];
  std::snprintf(file, sizeof file, "%02x:%02x:%llu", major(status.st_dev), minor(status.st_dev),
                static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  std::string number, kind, how, what, pid, of;
  while (locks >> number >> kind >> how >> what >> pid >> of) {
    std::string rest;
    std::getline(locks, rest);
    if (kind == "FLOCK" && of == file && pid != "0" && pid != "-1") return concat("process ", pid);
  }
  return "another process";
}

}  // namespace

std::optional<std::string> other_holder(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return holder_of(fd);
    break;  // Locks that cannot be had keep nobody out.
  }
  return std::nullopt;
}

// A lock that is given back is no event that could be waited for with a bound.
std::optional<std::string> wait_for_holder(int fd, bool& waited) {
  constexpr std::chrono::milliseconds look_every{5};
  const Time until = now() + leave_wait;
  waited = false;
  while (true) {
    auto holder = other_holder(fd);
    if (!holder || now() >= until) return holder;
    waited = true;
    note_restored(1);
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace piracema::detail
