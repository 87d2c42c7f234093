#include "forecast/window/user_presence.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

namespace {

/// Over which load is averaged.
constexpr double load_seconds = 30;

double ticks_per_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

bool is_terminal_of_a_user(const std::string& name) {
  return name.starts_with("tty") && name.size() > 3 && name[3] >= '1' && name[3] <= '9';
}

// The kernel notes when a terminal was read from.
void note_input(const std::filesystem::path& path, std::time_t& last) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode)) {
    last = std::max(last, status.st_atime);
  }
}

std::optional<double> input_age() {
  std::time_t last = 0, boot = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/pts", ignored)) {
    if (entry.path().filename() != "ptmx") note_input(entry.path(), last);
  }
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored)) {
    if (is_terminal_of_a_user(entry.path().filename())) note_input(entry.path(), last);
  }
  // What the boot did to consoles is nobody's input.
  timespec up{};
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  const std::time_t now = std::time(nullptr);
  boot = now - up.tv_sec + 60;
  if (last <= boot) return std::nullopt;
  return std::max(0.0, static_cast<double>(now - last));
}

// proc(5): user, nice, system, then idle and iowait, then irq and so on.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double sum = 0;
  file >> name;
  for (int i = 0; i < 8; ++i) {
    double ticks = 0;
    file >> ticks;
    if (i != 3 && i != 4) sum += ticks;
  }
  return sum / ticks_per_second();
}

// Of the process and of children that it has waited for.
double used_seconds(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t end = text.rfind(')');
  if (end == text.npos) return 0;
  std::istringstream rest(text.substr(end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) rest >> skipped;
  double sum = 0, ticks = 0;
  for (int i = 0; i < 4 && rest >> ticks; ++i) sum += ticks;
  return sum / ticks_per_second();
}

}  // namespace

MachineLook look_at_machine(const std::vector<pid_t>& roots) {
  MachineLook look{.input_age = input_age(), .busy = busy_seconds()};
  const auto all = all_processes();
  std::set<pid_t> ours = {::getpid()};
  for (const pid_t root : roots) {
    for (const JobProcess& process : tree_of(all, root)) ours.insert(process.pid);
  }
  for (const pid_t pid : ours) look.ours += used_seconds(pid);
  return look;
}

bool UserPresence::step(Time now, const MachineLook& look) {
  if (last_) {
    const double seconds = std::chrono::duration<double>(now - last_->first).count();
    // Time of ours that is gone with its processes is not made others'.
    const double ours = std::max(0.0, look.ours - last_->second.ours);
    const double busy = std::max(0.0, look.busy - last_->second.busy - ours);
    if (seconds > 0) {
      const double keep = std::exp(-seconds / load_seconds);
      load_ = keep * load_ + (1 - keep) * busy / seconds;
    }
  }
  last_ = std::pair(now, look);
  const bool typed = look.input_age && *look.input_age < settings_.input_seconds;
  return typed || load_ > settings_.load;
}

}  // namespace piracema::ckpt
