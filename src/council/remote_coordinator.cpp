#include "council/remote_coordinator.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/ensure.h"
#include "base/log.h"
#include "base/text.h"
#include "host/staging.h"

extern char** environ;

namespace piracema::council {

namespace {

// What is no line by then is handed on as it is.
constexpr std::size_t rest_bytes_max = std::size_t{64} << 10;

// What a node of a cluster has told this process of itself, the other one tells there.
bool is_of_this_node(std::string_view variable) {
  constexpr std::array<std::string_view, 7> names = {
      "PIRACEMA_NODE",    "PIRACEMA_NODE_DOOR", "PIRACEMA_RSH",          "PIRACEMA_HOSTFILE",
      "PIRACEMA_ATTEMPT", "PIRACEMA_JOB",       "PIRACEMA_JOB_DIRECTORY"};
  return std::getenv("PIRACEMA_NODE_DOOR") != nullptr &&
         std::ranges::find(names, variable.substr(0, variable.find('='))) != names.end();
}

// A job of a cluster that names no directory has one on each node, in which the remote shell
// begins.
std::string directory_there() {
  std::error_code none;
  const std::string here = std::filesystem::current_path(none).string();
  const char* const own = std::getenv("PIRACEMA_JOB_DIRECTORY");
  return own != nullptr && std::filesystem::equivalent(own, here, none) ? "." : here;
}

// The same words mean the same job there, in the same directory; but for the program, which may
// have been copied.
cluster::StagedCommand command_of(const std::vector<std::string>& words,
                                  const cluster::JobOptions& job) {
  ENSURE(words.size() > job.command.size());
  cluster::StagedCommand command{.words = {words.begin() + 1, words.end()},
                                 .program = words.size() - job.command.size() - 1,
                                 .environment = {"PIRACEMA_COUNCIL_FD=0"},
                                 .wants_directory = true};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("PIRACEMA_") && !is_of_this_node(text)) {
      command.environment.emplace_back(text);
    }
  }
  return command;
}

}  // namespace

Result<std::unique_ptr<RemoteCoordinator>> RemoteCoordinator::bring(
    Bringer bringer, const std::vector<std::string>& words, const cluster::JobOptions& job) {
  std::vector<cluster::StagedFile> files;
  for (const std::string& path : {std::string("/proc/self/exe"), job.command.front()}) {
    auto file = cluster::describe_file(path);
    if (!file) return file.error();
    files.push_back(*std::move(file));
  }
  std::vector<std::string> rsh = job.rsh;
  rsh.push_back(bringer.host);
  const std::string first_line = concat(bringer.host, "\n");
  std::unique_ptr<RemoteCoordinator> brought(new RemoteCoordinator(std::move(bringer)));
  RemoteCoordinator* const self = brought.get();
  auto call = cluster::HostCall::start(
      self->poller_, std::move(rsh),
      cluster::Staging(std::move(files), directory_there(), command_of(words, job)), first_line,
      {.told = [] {},
       .ended = [self](const std::string& how) { self->ended(how); },
       .printed = [self](std::string_view text) { self->printed(text); }});
  if (!call) return call.error();
  self->call_ = *std::move(call);
  self->poller_.watch(self->bringer_.line.get(), EPOLLIN,
                      [self](std::uint32_t) { self->said_by_command(); });
  return brought;
}

RemoteCoordinator::~RemoteCoordinator() { poller_.forget(bringer_.line.get()); }

void RemoteCoordinator::run() {
  while (!over_) {
    poller_.run_once(std::chrono::milliseconds(1'000));
    call_->reap();
  }
}

// What it says of the seat it says at once; what follows are signals.
void RemoteCoordinator::said_by_command() {
  std::array<char, line_bytes_max> some;
  const ssize_t count = ::read(bringer_.line.get(), some.data(), some.size());
  if (count < 0 && errno == EINTR) return;
  if (count > 0) {
    has_seat_ = true;
    return call_->say(std::string(some.data(), static_cast<std::size_t>(count)));
  }
  poller_.forget(bringer_.line.get());
  if (!has_seat_) over_ = true;
}

void RemoteCoordinator::printed(std::string_view text) {
  rest_ += text;
  if (!is_there_) {
    const std::size_t end = rest_.find('\n');
    if (end == rest_.npos) return;
    say(bringer_.line.get(), std::string_view(rest_).substr(0, end + 1));
    rest_.erase(0, end + 1);
    is_there_ = true;
  }
  take_end();
  // Whole lines, as others write there as well.
  const std::size_t end = rest_.rfind('\n');
  const std::size_t whole = rest_.size() > rest_bytes_max ? rest_.size()
                            : end == rest_.npos           ? 0
                                                          : end + 1;
  say(STDOUT_FILENO, std::string_view(rest_).substr(0, whole));
  rest_.erase(0, whole);
}

// How the job has ended is not for people.
void RemoteCoordinator::take_end() {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != rest_.npos;) {
    const std::string_view line = std::string_view(rest_).substr(begin, end - begin);
    if (code_of(line)) {
      say(bringer_.command.get(), concat(line, "\n"));
      rest_.erase(begin, end + 1 - begin);
    } else {
      begin = end + 1;
    }
  }
}

void RemoteCoordinator::ended(const std::string& how) {
  over_ = true;
  if (!is_there_) {
    say(bringer_.line.get(), concat(cannot, how, "\n"));
  } else {
    say(STDOUT_FILENO, rest_);
    log(Level::debug, concat("coordinator on host ", bringer_.host, ": ", how));
  }
}

}  // namespace piracema::council
