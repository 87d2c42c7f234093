#include "job.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

extern char** environ;

namespace piracema::testing {

namespace {

std::string new_mark() {
  static int count = 0;
  return std::to_string(::getpid()) + "-" + std::to_string(count++);
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!text.starts_with("PIRACEMA_")) all.push_back(text);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

bool readable(int fd, milliseconds within) {
  const Time until = now() + within;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(std::max(until - now(), Time{}));
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    const int count = ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count == 0) return false;
  }
}

}  // namespace

std::vector<std::string> piracema_run(std::vector<std::string> options,
                                      const std::vector<std::string>& program) {
  options.insert(options.begin(), {PIRACEMA_COMMAND, "run", "--json"});
  options.insert(options.end(), program.begin(), program.end());
  return options;
}

Job::Job(std::vector<std::string> command, std::vector<std::string> environment)
    : mark_(new_mark()) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  out_ = Fd(ends[0]);
  const Fd out(ends[1]);
  errors_ = Fd(::memfd_create("errors", MFD_CLOEXEC));
  environment.push_back("PIRACEMA_TEST_JOB=" + mark_);
  environment = environment_with(environment);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);

  // Closed by the start of the program: what is done to the process from then on is its own.
  int started[2];
  REQUIRE(::pipe2(started, O_CLOEXEC) == 0);
  const Fd wait_for_start(started[0]);
  Fd start(started[1]);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(errors_.get(), STDERR_FILENO);
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  start.close();
  char nothing = 0;
  REQUIRE(::read(wait_for_start.get(), &nothing, 1) == 0);
  handle_ = pidfd_of(pid_);
  REQUIRE(handle_);
}

Job::~Job() {
  if (status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
}

void Job::signal(int number) const { ::kill(pid_, number); }

Worker Job::worker(int slot) const {
  // Of two, one that is about to end and its successor, the successor.
  std::optional<Worker> found;
  for (const Worker& one : workers()) {
    if (one.slot == slot) found = one;
  }
  REQUIRE(found.has_value());
  return *found;
}

Job::Read Job::read_some(milliseconds within) {
  if (!readable(out_.get(), within)) return Read::nothing;
  std::array<char, 65'536> room;
  const ssize_t count = ::read(out_.get(), room.data(), room.size());
  if (count <= 0) return Read::end;
  output_.append(room.data(), static_cast<std::size_t>(count));
  return Read::some;
}

std::optional<std::string> Job::next_line(milliseconds within) {
  const Time until = now() + within;
  while (true) {
    const std::size_t end = output_.find('\n', lines_end_);
    if (end != std::string::npos) {
      const std::string line = output_.substr(lines_end_, end - lines_end_);
      lines_end_ = end + 1;
      if (line.starts_with('{')) events_.push_back(Event::parse(line));
      return line;
    }
    const auto left = std::chrono::ceil<milliseconds>(std::max(until - now(), Time{}));
    if (read_some(left) != Read::some) return std::nullopt;
  }
}

std::optional<Event> Job::next_event(milliseconds within) {
  const auto line = next_line(within);
  if (!line) return std::nullopt;
  REQUIRE_MESSAGE(line->starts_with('{'), "want JSON, found: ", *line);
  return events_.back();
}

Event Job::wait_for(const std::string& name, const std::function<bool(const Event&)>& right) {
  while (auto event = next_event()) {
    if ((*event)["event"] == name && right(*event)) return *event;
  }
  FAIL("no event '", name, "' came; standard error: ", errors());
  return {};
}

void Job::go_on_until(const std::function<bool()>& so) {
  const Time until = now() + patience;
  while (!so()) {
    REQUIRE_MESSAGE(now() < until, "it does not come; standard error: ", errors());
    REQUIRE_MESSAGE(!readable(handle_.get(), milliseconds(5)), "it has ended: ", errors());
    while (next_line(milliseconds(0))) {
    }
  }
}

int Job::wait() {
  if (status_) return *status_;
  while (read_some(patience) == Read::some) {
  }
  REQUIRE_MESSAGE(readable(handle_.get(), patience), "it does not end; so far: ", errors());
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, 0) == pid_);
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  while (next_line(milliseconds(0))) {
  }
  const std::string text = errors();
  CHECK_MESSAGE(text.find("Sanitizer") == std::string::npos, text);
  CHECK_MESSAGE(text.find("runtime error:") == std::string::npos, text);
  return *status_;
}

std::vector<Event> Job::events(const std::string& name) const {
  std::vector<Event> all;
  for (const Event& event : events_) {
    if (event["event"] == name) all.push_back(event);
  }
  return all;
}

Event Job::summary() const {
  const auto found = events("summary");
  REQUIRE_MESSAGE(!found.empty(), errors());
  return found.back();
}

std::string Job::errors() const {
  std::string text(static_cast<std::size_t>(::lseek(errors_.get(), 0, SEEK_END)), '\0');
  const ssize_t count = ::pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace piracema::testing
