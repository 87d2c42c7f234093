#include "jobs/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "os/process_tree.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

// Those that came late are found by looking again.
constexpr int look_ms = 10;

Result<std::pair<Fd, Fd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("a pipe to a job")};
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

std::uint32_t code_of(const cluster::Exit& exit, int status) {
  if (exit.status) return static_cast<std::uint32_t>(*exit.status);
  return 128 + static_cast<std::uint32_t>(WTERMSIG(status));
}

/// In a process of its own. All that a job starts, and is not waited for by others, comes to it.
class Supervisor {
 public:
  Supervisor(int result, int input, Time until, int niceness)
      : result_(result), input_(input), niceness_(niceness), until_(until) {}

  int run(std::string directory, std::vector<std::string> command) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The log is for both.
    ::dup2(STDOUT_FILENO, STDERR_FILENO);
    // It ends when the job has, and not before.
    for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_IGN);
    ::fcntl(result_, F_SETFD, FD_CLOEXEC);
    if (input_ >= 0) ::fcntl(input_, F_SETFD, FD_CLOEXEC);
    if (now() >= until_) return say_fenced();
    if (auto begun = begin(std::move(directory), std::move(command)); !begun) {
      return say("not_started", 127, begun.error().message);
    }
    while (!status_) wait();
    if (!is_over_) end_all();
    if (is_fenced_) return say_fenced();
    const cluster::Exit exit = cluster::describe_exit(*status_);
    return say("exited", code_of(exit, *status_), exit.how);
  }

 private:
  Result<Done> begin(std::string directory, std::vector<std::string> command) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    if (failed) return Error{Errc::io, concat(directory, ": ", failed.message())};
    if (::chdir(directory.c_str()) != 0) return Error{Errc::io, with_errno(directory)};
    auto program = cluster::find_program(command.front());
    if (!program) return program.error();
    command.front() = *std::move(program);
    auto process = cluster::Process::start(
        {.command = std::move(command), .input = input_, .niceness = niceness_});
    if (!process) return process.error();
    if (input_ >= 0) ::close(input_);
    job_ = process->pid();
    handle_ = Fd(::dup(process->handle()));
    process->let_go();
    return Done{};
  }

  void wait() {
    const auto left = std::chrono::ceil<milliseconds>(until_ - now());
    pollfd watched[] = {{handle_.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
    ::poll(watched, 2, timeout);
    if (watched[1].revents != 0) read_orders();
    if (now() >= until_) fence();
    reap();
  }

  void read_orders() {
    char bytes[4'096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    // Nobody is there who would hear of it, either.
    if (count <= 0) return fence();
    orders_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = orders_.find('\n')) != std::string::npos;) {
      const std::string order = orders_.substr(0, end);
      orders_.erase(0, end + 1);
      if (order == "terminate") {
        ::kill(-job_, SIGTERM);
      } else if (order == "kill") {
        ::kill(-job_, SIGKILL);
      } else if (const auto until = parse_number<std::int64_t>(order)) {
        until_ = std::max(until_, Time(*until));
      }
    }
  }

  void fence() {
    is_fenced_ = true;
    end_all();
  }

  // A job is over when its first process is.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) != 0;) {
      if (pid < 0) {
        is_over_ = true;
        if (!status_) status_ = 0;
        return;
      }
      if (pid == job_) status_ = status;
    }
  }

  // Whoever starts others meanwhile is ended before those.
  void end_all() {
    while (!is_over_) {
      const pid_t self = ::getpid();
      for (const auto& process : ckpt::tree_of(ckpt::all_processes(), self)) {
        if (process.pid != self) ::kill(process.pid, SIGKILL);
      }
      ::poll(nullptr, 0, look_ms);
      reap();
    }
  }

  int say_fenced() const { return say("fenced", 137, "the node could not be sure of its lease"); }
  int say(const char* how, std::uint32_t code, const std::string& why) const {
    const std::string line = concat(how, " ", code, " ", why.substr(0, 900), "\n");
    [[maybe_unused]] const ssize_t count = ::write(result_, line.data(), line.size());
    return 0;
  }

  const int result_, input_, niceness_;
  Time until_;
  pid_t job_ = 0;
  Fd handle_;
  std::string orders_;
  std::optional<int> status_;
  bool is_fenced_ = false, is_over_ = false;
};

}  // namespace

Result<Supervised> Supervised::start(const What& what) {
  auto orders = make_pipe();
  if (!orders) return orders.error();
  auto result = make_pipe();
  if (!result) return result.error();
  Fd input_read, input;
  if (!what.input.empty()) {
    auto pipe = make_pipe();
    if (!pipe) return pipe.error();
    std::tie(input_read, input) = *std::move(pipe);
    ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
    // It takes 64 KiB, and a part's is less.
    if (::write(input.get(), what.input.data(), what.input.size()) !=
        static_cast<ssize_t>(what.input.size())) {
      return Error{Errc::io, with_errno("the input of a job")};
    }
  }
  const Fd log(::open(what.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return Error{Errc::io, with_errno(what.log)};
  cluster::Launch launch;
  launch.command = what.supervisor;
  for (const std::string& word :
       {std::to_string(result->second.get()), std::to_string(input_read.get()),
        std::to_string(what.until.count()), std::to_string(what.niceness), what.directory}) {
    launch.command.push_back(word);
  }
  launch.command.insert(launch.command.end(), what.command.begin(), what.command.end());
  launch.environment = what.environment;
  launch.inherited = {result->second.get()};
  if (input_read) launch.inherited.push_back(input_read.get());
  launch.input = orders->first.get();
  launch.output = log.get();
  // It is there to outlive us, for as long as it takes to end the job.
  launch.outlives_us = true;
  auto process = cluster::Process::start(launch);
  if (!process) return process.error();
  ::fcntl(result->first.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(orders->second.get(), F_SETFL, O_NONBLOCK);
  return Supervised(what.attempt, *std::move(process), std::move(orders->second),
                    std::move(result->first), std::move(input));
}

// The supervisor ends the job when nobody holds the other end of its orders.
Supervised::~Supervised() { process_.let_go(); }

void Supervised::tell(const std::string& line) {
  // A pipe that is full belongs to a supervisor that stands still: its job is ended by the clock.
  [[maybe_unused]] const ssize_t count = ::write(orders_.get(), line.data(), line.size());
}

void Supervised::extend(Time until) { tell(concat(until.count(), "\n")); }
void Supervised::terminate(bool at_once) { tell(at_once ? "kill\n" : "terminate\n"); }

std::optional<Ended> Supervised::take_end() {
  char bytes[1'024];
  ssize_t count = 0;
  while ((count = ::read(result_.get(), bytes, sizeof bytes)) > 0 ||
         (count < 0 && errno == EINTR)) {
    if (count > 0) said_.append(bytes, static_cast<std::size_t>(count));
  }
  if (count < 0) return std::nullopt;
  std::istringstream line(said_);
  std::string how;
  std::uint32_t code = 0;
  if (!(line >> how >> code)) {
    return Ended{attempt_, End::exited, 137, "its supervisor was killed"};
  }
  std::string why;
  std::getline(line >> std::ws, why);
  const End end = how == "fenced"        ? End::fenced
                  : how == "not_started" ? End::not_started
                                         : End::exited;
  return Ended{attempt_, end, code, why};
}

int run_supervisor(const std::vector<std::string>& words) {
  if (words.size() < 6) return 2;
  const auto result = parse_number<int>(words[0]), input = parse_number<int>(words[1]);
  const auto until = parse_number<std::int64_t>(words[2]);
  const auto niceness = parse_number<int>(words[3]);
  if (!result || !input || !until || !niceness) return 2;
  return Supervisor(*result, *input, Time(*until), *niceness)
      .run(words[4], std::vector<std::string>(words.begin() + 5, words.end()));
}

}  // namespace piracema::jobs
