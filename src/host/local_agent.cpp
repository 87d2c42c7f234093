#include "host/local_agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::cluster {

Result<std::unique_ptr<LocalAgent>> LocalAgent::start(
    net::Poller& poller, const Settings& settings, std::function<void(const std::string&)> ended) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Errc::io, with_errno("pipe to an agent")};
  const Fd in(ends[0]), out(ends[1]);
  // A line fits into a pipe that nobody reads yet.
  const std::string& line = settings.first_line;
  if (::write(out.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return Error{Errc::io, with_errno("pipe to an agent")};
  }
  auto process = Process::start(
      {.command = {"/proc/self/exe", "agent", settings.program, std::to_string(in.get())},
       .inherited = {in.get()},
       .output_to_error = settings.output_to_error,
       .input = settings.hand_on_input ? STDIN_FILENO : -1,
       .outlives_us = true});
  if (!process) return process.error();
  return std::unique_ptr<LocalAgent>(new LocalAgent(poller, *std::move(process), std::move(ended)));
}

LocalAgent::LocalAgent(net::Poller& poller, Process process,
                       std::function<void(const std::string&)> ended)
    : poller_(poller), process_(std::move(process)), ended_(std::move(ended)) {
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
  ended_(concat("its agent ", exit->how));
}

}  // namespace piracema::cluster
