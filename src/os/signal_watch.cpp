#include "os/signal_watch.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

Result<std::unique_ptr<SignalWatch>> SignalWatch::open(net::Poller& poller,
                                                       const std::vector<int>& numbers,
                                                       OnSignal on_signal) {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int number : numbers) ::sigaddset(&wanted, number);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Fd signals(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return Error{Errc::io, with_errno("signals")};
  return std::unique_ptr<SignalWatch>(
      new SignalWatch(poller, std::move(signals), std::move(on_signal)));
}

SignalWatch::SignalWatch(net::Poller& poller, Fd signals, OnSignal on_signal)
    : poller_(poller), signals_(std::move(signals)), on_signal_(std::move(on_signal)) {
  poller_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) {
    signalfd_siginfo signal;
    while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      on_signal_(static_cast<int>(signal.ssi_signo));
    }
  });
}

}  // namespace piracema::ckpt
