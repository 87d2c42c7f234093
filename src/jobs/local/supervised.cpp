#include "jobs/local/supervised.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "jobs/local/work.h"
#include "os/pipe.h"

namespace piracema::jobs {

namespace {

constexpr int ends_within_ms = 1'000;
constexpr const char* pipe_to_job = "a pipe to a job";

}  // namespace

Result<Supervised> Supervised::start(const What& what) {
  auto orders = open_pipe(pipe_to_job);
  if (!orders) return orders.error();
  auto result = open_pipe(pipe_to_job);
  if (!result) return result.error();
  Fd input_read, input;
  if (!what.input.empty()) {
    auto pipe = open_pipe(pipe_to_job);
    if (!pipe) return pipe.error();
    input_read = std::move(pipe->read);
    input = std::move(pipe->write);
    ::fcntl(input.get(), F_SETFL, O_NONBLOCK);
    // It takes 64 KiB, and a part's is less.
    if (::write(input.get(), what.input.data(), what.input.size()) !=
        static_cast<ssize_t>(what.input.size())) {
      return Error{Errc::io, with_errno("the input of a job")};
    }
  }
  const Fd log(::open(what.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log) return Error{Errc::io, with_errno(what.log)};
  // Programs open /dev/stderr.
  if (what.account && ::fchown(log.get(), what.account->uid, what.account->gid) != 0) {
    return Error{Errc::io, with_errno(what.log)};
  }
  auto environment = in_memory(what.environment);
  if (!environment) return environment.error();
  const Work work{.result = result->write.get(),
                  .input = input_read.get(),
                  .until = what.until,
                  .niceness = what.niceness,
                  .account = what.account,
                  .directory = what.directory,
                  .command = what.command,
                  .environment = {}};
  cluster::Launch launch;
  launch.command = what.supervisor;
  for (std::string& word : words_of(work, *environment)) launch.command.push_back(std::move(word));
  launch.inherited = {result->write.get(), environment->get()};
  if (input_read) launch.inherited.push_back(input_read.get());
  launch.input = orders->read.get();
  launch.output = log.get();
  // It is there to outlive us, for as long as it takes to end the job.
  launch.outlives_us = true;
  auto process = cluster::Process::start(launch);
  if (!process) return process.error();
  ::fcntl(result->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(orders->write.get(), F_SETFL, O_NONBLOCK);
  return Supervised(what.attempt, *std::move(process), std::move(orders->write),
                    std::move(result->read), std::move(input));
}

// The supervisor ends the job when nobody holds the other end of its orders.
Supervised::~Supervised() { process_.let_go(); }

void Supervised::tell(const std::string& line) {
  // A pipe that is full belongs to a supervisor that stands still: its job is ended by the clock.
  [[maybe_unused]] const ssize_t count = ::write(orders_.get(), line.data(), line.size());
}

void Supervised::extend(Time until) { tell(concat(until.count(), "\n")); }
void Supervised::suspend(bool by_itself) { tell(by_itself ? "suspend itself\n" : "suspend\n"); }
void Supervised::resume() { tell("resume\n"); }
void Supervised::terminate(bool at_once) { tell(at_once ? "kill\n" : "terminate\n"); }

std::optional<Ended> Supervised::take_end() {
  char bytes[1'024];
  ssize_t count = 0;
  while ((count = ::read(result_.get(), bytes, sizeof bytes)) > 0 ||
         (count < 0 && errno == EINTR)) {
    if (count > 0) said_.append(bytes, static_cast<std::size_t>(count));
  }
  if (count < 0) return std::nullopt;
  // Nobody else holds the pipe: it ends now, and what is left of it counts as a process of ours.
  pollfd ended{.fd = process_.handle(), .events = POLLIN, .revents = 0};
  if (ended.fd >= 0 && ::poll(&ended, 1, ends_within_ms) == 1) process_.reap();
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

}  // namespace piracema::jobs
