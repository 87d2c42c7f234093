#include "cluster/driver/signals.h"

#include <sys/signalfd.h>

#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

Signals::Signals(net::Poller& poller, std::function<void(int)> on_signal)
    : poller_(poller), on_signal_(std::move(on_signal)) {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&ours, number);
  ::pthread_sigmask(SIG_BLOCK, &ours, &before_);
  fd_ = Fd(::signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
  ENSURE(fd_.get() >= 0);  // Fails without descriptors left: the poller has just got its own.
  poller_.watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { read(); });
}

Signals::~Signals() {
  poller_.forget(fd_.get());
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Signals::read() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace piracema::cluster
