#include "host/remote_shell.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef P_PIDFD
constexpr idtype_t P_PIDFD = static_cast<idtype_t>(3);
#endif

// No password is asked for, and a network that is gone is noticed.
constexpr const char* default_rsh =
    "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3";

/// Everything as for a new program: a group of its own, no signal held back or ignored.
struct FreshStart {
  FreshStart() {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&value);
    ::posix_spawnattr_setsigmask(&value, &none);
    ::posix_spawnattr_setsigdefault(&value, &all);
    ::posix_spawnattr_setpgroup(&value, 0);
    ::posix_spawnattr_setflags(
        &value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~FreshStart() { ::posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

}  // namespace

std::vector<std::string> way_to(const std::string& rsh, const std::string& host) {
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  if (rsh.empty() && (host == "localhost" || host == own.data())) return {};
  std::istringstream words(rsh.empty() ? default_rsh : rsh);
  std::vector<std::string> way;
  for (std::string word; words >> word;) way.push_back(word);
  way.push_back(host);
  return way;
}

Result<RemoteShell> RemoteShell::start(const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socketpair")};
  }
  Fd here(ends[0]), there(ends[1]);
  ::fcntl(here.get(), F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, there.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, there.get(), STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const FreshStart fresh;
  const int failed = ::posix_spawnp(&pid, words[0], &files, &fresh.value, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return Error{Errc::config, concat("'", command[0], "' cannot be run: ", std::strerror(failed))};
  }
  return RemoteShell(Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), std::move(here));
}

void RemoteShell::hang_up() {
  if (channel_) ::shutdown(channel_.get(), SHUT_WR);
}

std::string RemoteShell::end(Time by) {
  if (!process_) return {};
  channel_.close();
  const Time left = std::max(Time{}, by - now());
  pollfd wait{process_.get(), POLLIN, 0};
  const int ms = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  const bool by_itself = ::poll(&wait, 1, ms) > 0;
  if (!by_itself) (void)::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(process_.get()), &info, WEXITED) < 0 &&
         errno == EINTR) {
  }
  process_.close();
  if (!by_itself) return {};
  return concat(info.si_code == CLD_EXITED ? "ended with status " : "was ended by signal ",
                info.si_status);
}

}  // namespace piracema::ckpt
