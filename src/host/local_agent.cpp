#include "host/local_agent.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"

namespace piracema::cluster {

Result<std::unique_ptr<LocalAgent>> LocalAgent::start(
    net::Poller& poller, const Settings& settings, std::function<void(const std::string&)> ended) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{Errc::io, with_errno("socket to an agent")};
  }
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  // A line fits into a socket that nobody reads yet.
  const std::string& line = settings.first_line;
  if (::write(ours.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return Error{Errc::io, with_errno("socket to an agent")};
  }
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  auto process = Process::start(
      {.command = {settings.agent, "agent", settings.program, std::to_string(theirs.get())},
       .inherited = {theirs.get()},
       .output_to_error = settings.output_to_error,
       .input = settings.hand_on_input ? STDIN_FILENO : -1,
       .outlives_us = settings.outlives_us});
  if (!process) return process.error();
  return std::unique_ptr<LocalAgent>(
      new LocalAgent(poller, *std::move(process), std::move(ours), std::move(ended)));
}

LocalAgent::LocalAgent(net::Poller& poller, Process process, Fd line,
                       std::function<void(const std::string&)> ended)
    : poller_(poller),
      process_(std::move(process)),
      line_(std::move(line)),
      ended_(std::move(ended)) {
  if (process_.handle() < 0) return;
  poller_.watch(process_.handle(), EPOLLIN, [this](std::uint32_t) { reap(); });
}

LocalAgent::~LocalAgent() {
  if (process_.handle() >= 0) poller_.forget(process_.handle());
}

void LocalAgent::let_go() {
  if (process_.handle() >= 0) poller_.forget(process_.handle());
  process_.let_go();
}

void LocalAgent::reap() {
  if (process_.pid() == 0) return;
  const int handle = process_.handle();
  const auto exit = process_.reap();
  if (!exit) return;
  if (handle >= 0) poller_.forget(handle);
  ended_(concat("its agent ", exit->by_signal ? "was " : "", exit->how));
}

}  // namespace piracema::cluster
