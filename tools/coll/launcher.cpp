#include "tools/coll/launcher.h"

#include <elf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/log.h"
#include "base/text.h"
#include "os/exit_code.h"

namespace piracema::tools {

namespace {

std::atomic<pid_t> launcher{0};

/// Also those of the terminal come here; si_code tells them apart.
void pass_on(int number, siginfo_t* info, void*) {
  const int before = errno;
  if (info->si_code <= 0 && launcher != 0) ::kill(launcher, number);
  errno = before;
}

}  // namespace

int run_launcher(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    ::sigaction(number, &action, nullptr);
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // Handlers are gone with exec.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(3);
    ::execvp(arguments.front(), arguments.data());
    log(Level::error, with_errno(concat("cannot start '", words.front(), "'")));
    ::_exit(3);
  }
  if (child < 0) {
    log(Level::error, with_errno(concat("cannot start '", words.front(), "'")));
    return 3;
  }
  launcher = child;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  launcher = 0;
  return exit_code_of_status(status);
}

// The names of the libraries that it wants are in its table of strings: one of these is enough.
std::string mpi_of_program(const std::string& program) {
  std::error_code ignored;
  std::ifstream file(program, std::ios::binary);
  std::array<char, SELFMAG> magic{};
  file.read(magic.data(), magic.size());
  if (!file || std::string_view(magic.data(), magic.size()) != ELFMAG) return "";
  if (std::filesystem::file_size(program, ignored) > 256'000'000) return "";
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto has = [&](std::string_view name) {
    return bytes.find(std::string(1, '\0') + std::string(name) + std::string(1, '\0')) !=
           std::string::npos;
  };
  if (has("libmpi.so.40")) return "openmpi";
  if (has("libmpi_abi.so.1")) return "the standard ABI of MPI 5 (libmpi_abi.so.1)";
  if (has("libmpich.so.12") || has("libmpi.so.12")) return "mpich";
  return "";
}

}  // namespace piracema::tools
