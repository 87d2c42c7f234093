#include "ckpt/capsule/criu_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/fd.h"
#include "base/text.h"
#include "ckpt/capsule/capsule_setup.h"
#include "ckpt/capsule/criu_complaint.h"
#include "ckpt/capsule/criu_preload.h"
#include "ckpt/capsule/hook.h"
#include "ckpt/capsule/user_namespace.h"
#include "os/helper.h"

namespace piracema::ckpt {

namespace {

void restore_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int open_output(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
}

// In the child: the descriptors 0, 1 and 2, and no others.
bool redirect(const std::string& output, const std::string& error) {
  const int in = ::open("/dev/null", O_RDONLY), out = open_output(output);
  const int err = error == output ? ::dup(out) : open_output(error);
  if (in < 0 || out < 0 || err < 0) return false;
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const int fd : {in, out, err}) {
    if (fd > STDERR_FILENO) ::close(fd);
  }
  return true;
}

// What a process of an ordinary user's capsule gets on its way: a job nothing.
enum class With { nothing, rights, rights_and_preload };

// The reason of a child that could not become the program comes by the pipe.
Result<pid_t> start(const std::vector<std::string>& command, const std::string& directory,
                    const std::string& output, const std::string& error,
                    const std::vector<std::string>& variables = {}, With with = With::nothing) {
  const auto words = pointers(command), environment = pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe")};
  Fd in(ends[0]), out(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("a new process")};
  if (pid == 0) {
    ::setsid();
    restore_signals();
    if ((directory.empty() || ::chdir(directory.c_str()) == 0) && redirect(output, error)) {
      if (!variables.empty()) {
        environ = const_cast<char**>(environment.data());
        name_places();
      }
      // Where it cannot, criu says what it lacks.
      if (with != With::nothing) (void)keep_rights();
      if (with == With::rights_and_preload) preload_into_criu();
      ::execvp(words[0], words.data());
    }
    const int reason = errno;
    (void)!::write(out.get(), &reason, sizeof reason);
    ::_exit(127);
  }
  out.close();
  int reason = 0;
  ssize_t count = 0;
  do {
    count = ::read(in.get(), &reason, sizeof reason);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return pid;
  return Error{Errc::config, concat("'", command[0], "' cannot be run: ", std::strerror(reason))};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Result<pid_t> start_job(const Order& order) {
  return start(order.command, order.working_directory, order.output, order.error,
               order.environment);
}

Result<pid_t> start_command(const Order& order, pid_t job) {
  std::vector<std::string> variables = order.environment;
  for (char** one = environ; variables.empty() && *one != nullptr; ++one)
    variables.emplace_back(*one);
  variables.push_back(concat("PIRACEMA_CKPT_PID=", job));
  return start(order.command, order.working_directory, order.output, order.output, variables);
}

std::vector<std::string> dump_command(const CapsuleSettings& settings, const Order& order,
                                      pid_t job) {
  std::vector<std::string> words = {settings.criu, "dump", "-t", std::to_string(job), "-D",
                                    order.parts, "-W", order.log + ".d", "-o", "log", "-v2",
                                    "--tcp-established", "--file-locks", "--ghost-limit", "1G",
                                    // The links of the capsule are cut, or nobody is outside of it.
                                    "--network-lock", "skip", "--action-script", settings.hook};
  if (!order.stop) words.push_back("--leave-running");
  if (ordinary_user()) words.push_back("--unprivileged");
  return words;
}

std::vector<std::string> restore_command(const CapsuleSettings& settings, const Order& order) {
  std::vector<std::string> words = {settings.criu,
                                    "restore",
                                    "-d",
                                    "-D",
                                    order.parts,
                                    "-W",
                                    order.log + ".d",
                                    "-o",
                                    "log",
                                    "-v2",
                                    "--tcp-established",
                                    "--file-locks",
                                    "--network-lock",
                                    "skip",
                                    "--action-script",
                                    settings.hook};
  if (ordinary_user()) words.push_back("--unprivileged");
  return words;
}

std::vector<std::string> commit_command(const CapsuleSettings& settings) { return {settings.hook}; }

Result<pid_t> start_beside(const std::vector<std::string>& command, const Order& order, pid_t job) {
  const std::string place = order.log + ".d";
  ::mkdir(place.c_str(), 0700);
  ::unlink((place + "/hook").c_str());
  const HookOrder hook{.root = static_cast<std::uint32_t>(job),
                       .stop = order.stop,
                       .several = order.several,
                       .compress = order.compress,
                       .unchecked = order.unchecked,
                       .parts = order.parts,
                       .directory = order.directory,
                       .image = order.image,
                       .job = order.job,
                       .complaint = place + "/hook"};
  ::setenv(hook_variable, encode_hook_order(hook).c_str(), 1);
  ::unsetenv("CRTOOLS_SCRIPT_ACTION");
  const std::string output = place + "/output";
  const bool saves = command.size() > 1 && order.kind == OrderKind::dump;
  const With with = !ordinary_user() ? With::nothing
                    : saves          ? With::rights_and_preload
                                     : With::rights;
  auto pid = start(command, "/", output, output, {}, with);
  ::unsetenv(hook_variable);
  return pid;
}

std::string why_failed(const std::string& log) {
  if (const std::string hook = read_text(log + ".d/hook"); !hook.empty()) {
    return hook.substr(0, hook.find('\n'));
  }
  std::istringstream lines(read_text(log + ".d/log"));
  for (std::string line; std::getline(lines, line);) {
    // Said of every process where a privilege is missing, and harmless.
    if (line.find("RLIMIT_NOFILE") != line.npos) continue;
    if (const std::size_t at = line.find("Error ("); at != line.npos) {
      return concat("criu: ", explain_criu_error(line.substr(at)));
    }
  }
  return concat("criu failed without a reason; see ", log, ".d");
}

namespace {

// A number of a protocol buffer: seven bits a byte.
std::uint64_t varint(const std::string& from, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; at < from.size() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(from[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

}  // namespace

// stats-dump of criu: two magic numbers and a length of 4 bytes each, then a message whose member
// 1 is a message whose members are numbers: 2 is the time frozen.
std::uint64_t frozen_time(const std::string& log) {
  const std::string text = read_text(log + ".d/stats-dump");
  std::size_t at = 12;
  if (text.size() < at || varint(text, at) != (1 << 3 | 2)) return 0;
  varint(text, at);
  while (at < text.size()) {
    const std::uint64_t key = varint(text, at), value = varint(text, at);
    if (key == (2 << 3)) return value;
    if ((key & 7) != 0) return 0;
  }
  return 0;
}

}  // namespace piracema::ckpt
