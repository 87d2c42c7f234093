#include "net/socket/dial.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/text.h"

namespace piracema::net {

Dial::Dial(Poller& poller, const Address& address, Time deadline, OnDone on_done)
    : poller_(poller),
      address_(address),
      socket_(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      on_done_(std::move(on_done)) {
  if (!socket_ ||
      (::connect(socket_.get(), address.data(), address.size()) != 0 && errno != EINPROGRESS)) {
    const Error error{Errc::io, with_errno(concat("connecting to ", address.text()))};
    timer_ = poller.at(now(), [this, error] { finish(error); });
    return;
  }
  poller.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t) { connected(); });
  timer_ = poller.at(deadline, [this] {
    finish(Error{Errc::timeout, concat("connecting to ", address_.text(), ": no answer in time")});
  });
}

Dial::~Dial() {
  poller_.forget(socket_.get());
  poller_.cancel(timer_);
}

void Dial::connected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  poller_.forget(socket_.get());
  if (error == 0) return finish(std::move(socket_));
  errno = error;
  finish(Error{Errc::io, with_errno(concat("connecting to ", address_.text()))});
}

void Dial::finish(Result<Fd> result) {
  poller_.cancel(timer_);
  poller_.forget(socket_.get());
  const auto on_done = std::move(on_done_);
  on_done(std::move(result));  // The last step: it may have destroyed this.
}

}  // namespace piracema::net
