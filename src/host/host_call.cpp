#include "host/host_call.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {
// A host that is there says so within a second or two.
constexpr std::chrono::milliseconds reached_within{10'000};
// Between two lines of it, or two pieces of a file that it takes.
constexpr std::chrono::milliseconds gets_on_within{30'000};
constexpr std::size_t file_piece_bytes = std::size_t{256} << 10;
constexpr std::size_t line_bytes_max = 4'096;

// Sockets, not pipes: writing to one that nobody reads any more is an error, not a signal.
Result<std::pair<Fd, Fd>> stream_to_remote_shell() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to a remote shell")};
  }
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

void do_not_block(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }
}  // namespace

Result<std::unique_ptr<HostCall>> HostCall::start(net::Poller& poller, std::vector<std::string> rsh,
                                                  Staging staging, std::string first_line,
                                                  Events events) {
  auto to = stream_to_remote_shell();
  if (!to) return to.error();
  auto from = stream_to_remote_shell();
  if (!from) return from.error();
  const std::string name = rsh.front();
  // One word, so that it means the same whether a shell there reads it or nobody does.
  rsh.push_back("sh");
  auto process = Process::start(
      {.command = std::move(rsh), .input = to->first.get(), .output = from->second.get()});
  if (!process) return process.error();
  do_not_block(to->second);
  do_not_block(from->first);
  std::unique_ptr<HostCall> call(
      new HostCall(poller, name, std::move(staging), std::move(first_line), *std::move(process),
                   std::move(to->second), std::move(from->first), std::move(events)));
  call->say(call->staging_.script());
  return call;
}

HostCall::HostCall(net::Poller& poller, std::string name, Staging staging, std::string first_line,
                   Process process, Fd in, Fd out, Events events)
    : poller_(poller),
      name_(std::move(name)),
      staging_(std::move(staging)),
      first_line_(std::move(first_line)),
      process_(std::move(process)),
      in_(std::move(in)),
      out_(std::move(out)),
      events_(std::move(events)) {
  poller_.watch(out_.get(), EPOLLIN, [this](std::uint32_t) { readable(); });
  if (process_.handle() >= 0) {
    poller_.watch(process_.handle(), EPOLLIN, [this](std::uint32_t) { reap(); });
  }
  wait_for(reached_within, "answer");
}

HostCall::~HostCall() {
  if (deadline_) poller_.cancel(*deadline_);
  poller_.forget(out_.get());
  poller_.forget(in_.get());
  poller_.forget(process_.handle());
}

void HostCall::reap() {
  if (over_ || process_.pid() == 0) return;
  const int handle = process_.handle();
  const auto exit = process_.reap();
  if (!exit) return;
  poller_.forget(handle);
  readable();  // Its last words may say why.
  if (!over_) over(concat("'", name_, "' ", exit->how));
}

void HostCall::readable() {
  std::array<char, 4'096> some;
  while (!over_) {
    const ssize_t count = ::read(out_.get(), some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0 || errno != EAGAIN) poller_.forget(out_.get());  // Its end tells how.
      return;
    }
    heard_.append(some.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; !over_ && !told_ && (end = heard_.find('\n')) != std::string::npos;) {
      const std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      hear(line);
    }
    if (told_ && events_.printed) events_.printed(std::exchange(heard_, {}));
    if (heard_.size() > line_bytes_max) heard_.clear();
  }
}

void HostCall::hear(std::string_view line) {
  const auto next = staging_.line(line);
  if (!next) return over(next.error().message);
  if (!*next) return;
  wait_for(gets_on_within, "get on");
  switch ((*next)->what) {
    case Staging::Next::here:
      return;
    case Staging::Next::file:
      file_ = Fd(::open(staging_.file((*next)->file_number).path.c_str(), O_RDONLY | O_CLOEXEC));
      return say("");
    case Staging::Next::started:
      told_ = true;
      say(std::exchange(first_line_, {}));
      wait_for({}, "");
      return events_.told();
  }
}

void HostCall::say(std::string text) {
  to_say_ += text;
  if (!std::exchange(writing_, true)) {
    poller_.watch(in_.get(), EPOLLOUT, [this](std::uint32_t) { writable(); });
  }
}

void HostCall::writable() {
  if (to_say_.empty() && file_) {
    to_say_.resize(file_piece_bytes);
    const ssize_t count = ::read(file_.get(), to_say_.data(), to_say_.size());
    to_say_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (to_say_.empty()) file_.close();
  }
  const ssize_t count = ::send(in_.get(), to_say_.data(), to_say_.size(), MSG_NOSIGNAL);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // A shell that takes nothing any more is about to end, and that tells how.
  if (count < 0) to_say_.clear(), file_.close();
  if (count > 0) {
    to_say_.erase(0, static_cast<std::size_t>(count));
    if (file_) wait_for(gets_on_within, "get on");
  }
  if (!to_say_.empty() || file_) return;
  writing_ = false;
  poller_.forget(in_.get());
}

void HostCall::wait_for(std::chrono::milliseconds time, const char* what) {
  if (deadline_) poller_.cancel(*deadline_);
  deadline_.reset();
  if (first_line_.empty()) return;  // What follows is the agent's.
  deadline_ = poller_.at(now() + time, [this, time, what] {
    deadline_.reset();
    over(concat("it did not ", what, " within ", time.count() / 1'000, " s"));
  });
}

void HostCall::over(std::string how) {
  if (std::exchange(over_, true)) return;
  events_.ended(how);
}

}  // namespace piracema::cluster
