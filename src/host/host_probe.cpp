#include "host/host_probe.h"

#include <utility>

#include "base/log.h"

namespace piracema::cluster {

HostProbe::HostProbe(net::Poller& poller, std::vector<std::vector<std::string>> calls, Time within,
                     OnDone on_done)
    : poller_(poller), on_done_(std::move(on_done)), reached_(calls.size()), calls_(calls.size()) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].empty()) {
      reached_[i] = true;
      continue;
    }
    calls[i].push_back("true");
    auto process = Process::start({.command = calls[i], .output_to_error = true});
    if (!process) {
      log(Level::warning, process.error().message);
      continue;
    }
    calls_[i] = std::make_unique<Process>(*std::move(process));
    running_ += 1;
    if (calls_[i]->handle() < 0) continue;
    poller_.watch(calls_[i]->handle(), EPOLLIN, [this, i](std::uint32_t) { reap(i); });
  }
  deadline_ = poller_.at(running_ == 0 ? now() : now() + within, [this] {
    deadline_.reset();
    finish();
  });
}

HostProbe::~HostProbe() {
  if (deadline_) poller_.cancel(*deadline_);
  for (const auto& call : calls_) {
    if (call && call->handle() >= 0) poller_.forget(call->handle());
  }
}

void HostProbe::reap_all() {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i]) reap(i);
  }
}

void HostProbe::reap(std::size_t call) {
  if (!calls_[call]) return;
  const int handle = calls_[call]->handle();
  const auto exit = calls_[call]->reap();
  if (!exit) return;
  if (handle >= 0) poller_.forget(handle);
  calls_[call].reset();
  reached_[call] = exit->clean;
  running_ -= 1;
  if (running_ != 0 || !deadline_) return;
  poller_.cancel(*deadline_);
  deadline_ = poller_.at(now(), [this] {
    deadline_.reset();
    finish();
  });
}

// It may destroy this.
void HostProbe::finish() {
  const OnDone on_done = std::move(on_done_);
  on_done(std::move(reached_));
}

}  // namespace piracema::cluster
