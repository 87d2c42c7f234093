#include "os/helper.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"
#include "os/exit_code.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t output_bytes_max = 64 << 10;

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> room;
  for (;;) {
    const ssize_t count = ::read(fd, room.data(), room.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    // Read on even when it is not kept: a full pipe would stop the program.
    if (text.size() < output_bytes_max) text.append(room.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<HelperEnd> run_helper(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe")};
  Fd from(ends[0]), to(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, to.get(), STDERR_FILENO);
  const auto words = pointers(command);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Error{Errc::config, concat("'", command[0], "' cannot be run: ", std::strerror(failed))};
  }
  to.close();
  HelperEnd end;
  end.output = read_all(from.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Error{Errc::io, with_errno(command[0])};
  }
  end.status = exit_code_of_status(status);
  return end;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace piracema::ckpt
