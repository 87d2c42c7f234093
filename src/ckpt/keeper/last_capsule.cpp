#include "ckpt/keeper/last_capsule.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

constexpr Time end_within = std::chrono::seconds(10);

std::string path_in(const std::string& job_directory) { return job_directory + "/log/capsule"; }

std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// proc(5): the 22nd word, when it began; the name in brackets may hold spaces. Empty: it is gone.
std::string begin_of(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == text.npos) return {};
  std::istringstream rest(text.substr(end + 1));
  std::string word;
  for (int number = 3; number <= 22; ++number) rest >> word;
  return word;
}

}  // namespace

void note_capsule(const std::string& job_directory, pid_t first) {
  // Of use only while this host runs, so it is not synced; without it nothing is waited for.
  std::ofstream(path_in(job_directory)) << boot() << ' ' << first << ' ' << begin_of(first) << '\n';
}

Result<Done> wait_for_last_capsule(const std::string& job_directory) {
  std::string where, began;
  pid_t pid = 0;
  if (!(std::ifstream(path_in(job_directory)) >> where >> pid >> began) || pid <= 0) return Done{};
  if (where != boot()) return Done{};
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // The number may be somebody else's by now; whose this one is stays so while it is held.
  if (!process || begin_of(pid) != began) return Done{};
  const Time by = now() + end_within;
  for (;;) {
    pollfd wait{process.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(by - now()).count();
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready > 0) return Done{};
    if (ready < 0 && errno == EINTR) continue;
    return Error{Errc::failed, concat(job_directory,
                                      ": processes of the job's last run are still there "
                                      "(of capsule ",
                                      pid, "), and may write to its files")};
  }
}

}  // namespace piracema::ckpt
