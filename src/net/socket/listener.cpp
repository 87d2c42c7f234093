#include "net/socket/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::net {

namespace {

constexpr int accepted_at_once = 64;
constexpr std::chrono::milliseconds rest_time{100};

sockaddr_storage name_of(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size);
  return name;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(Poller& poller, const std::string& host,
                                                 std::uint16_t port, OnAccept on_accept) {
  auto address = Address::make(host, port);
  if (!address) return address.error();
  return open(poller, *address, std::move(on_accept));
}

Result<std::unique_ptr<Listener>> Listener::open(Poller& poller, const Address& address,
                                                 OnAccept on_accept) {
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Connections of an earlier process that the system still remembers do not count as taken.
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), address.data(), address.size()) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return Error{Errc::io, with_errno(concat("listening on ", address.text()))};
  }
  const Address bound = address.is_local() ? address : Address(name_of(socket.get()));
  return std::unique_ptr<Listener>(
      new Listener(poller, std::move(socket), bound, std::move(on_accept)));
}

Listener::Listener(Poller& poller, Fd socket, Address address, OnAccept on_accept)
    : poller_(poller),
      socket_(std::move(socket)),
      address_(address),
      on_accept_(std::move(on_accept)) {
  watch();
}

Listener::~Listener() {
  if (resting_) poller_.cancel(*resting_);
  poller_.forget(socket_.get());
}

void Listener::watch() {
  poller_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

void Listener::hold() {
  if (std::exchange(held_, true)) return;
  if (!resting_) poller_.forget(socket_.get());
}

void Listener::go_on() {
  if (!std::exchange(held_, false)) return;
  if (!resting_) watch();
}

void Listener::accept() {
  for (int i = 0; i < accepted_at_once && !held_; ++i) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    Fd socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                        SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      on_accept_(std::move(socket), Address(peer));
      continue;
    }
    if (errno == EAGAIN) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return rest();
    // Anything else is about that one caller, who has gone again.
  }
}

// Out of descriptors or memory the caller stays in line, and the poller would spin on him.
void Listener::rest() {
  log(Level::warning, with_errno("accepting a connection"));
  poller_.forget(socket_.get());
  resting_ = poller_.at(now() + rest_time, [this] {
    resting_.reset();
    if (!held_) watch();
  });
}

}  // namespace piracema::net
