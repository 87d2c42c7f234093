#include "forecast/window/presence_command.h"

#include <sys/epoll.h>
#include <sys/wait.h>

#include "base/log.h"

namespace piracema::ckpt {

namespace {

constexpr Time limit = std::chrono::seconds(10);

}  // namespace

PresenceCommand::~PresenceCommand() {
  if (process_.handle) poller_.forget(process_.handle.get());
}

void PresenceCommand::look() {
  if (process_.pid != 0) {
    if (now() - since_ > limit) answer_(true);
    return;
  }
  auto process = start_own_process({.words = {"/bin/sh", "-c", command_},
                                    .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"},
                                    .working_directory = "/"});
  if (!process) return log(Level::warning, process.error().message);
  process_ = *std::move(process);
  since_ = now();
  poller_.watch(process_.handle.get(), EPOLLIN, [this](std::uint32_t) { hear(); });
}

void PresenceCommand::hear() {
  int status = 0;
  if (::waitpid(process_.pid, &status, WNOHANG) != process_.pid) return;
  poller_.forget(process_.handle.get());
  process_ = {};
  answer_(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace piracema::ckpt
