#include "os/process_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
// Field 9, the kernel's PF_EXITING.
constexpr unsigned long is_exiting = 0x4;
constexpr int fields_before_flags = 5;
}  // namespace

// The state is the letter behind the name, which may hold anything but ends with the last ')'.
ProcessState state_of(pid_t pid) {
  const Fd file(::open(concat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t count = file ? ::read(file.get(), text, sizeof text) : -1;
  if (count <= 0) return {.ending = true};
  const std::string_view line(text, static_cast<std::size_t>(count));
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return {};
  std::istringstream rest{std::string(line.substr(name_end + 1))};
  char state = 0;
  rest >> state;
  std::string field;
  for (int i = 0; i < fields_before_flags; ++i) rest >> field;
  unsigned long flags = 0;
  rest >> flags;
  return {.held_up = state == 'R' || state == 'D',
          .stopped = state == 'T',
          .traced = state == 't',
          .blocked = state == 'D',
          .ending = state == 'Z' || state == 'X' || (flags & is_exiting) != 0};
}

}  // namespace piracema::cluster
