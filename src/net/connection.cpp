#include "net/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/text.h"

namespace piracema::net {

namespace {
// A connection that never runs dry lets the others have their turn after so many reads.
constexpr int reads_at_once = 16;
}  // namespace

std::shared_ptr<Connection> Connection::open(Poller& poller, Fd socket, Events events,
                                             std::chrono::milliseconds timeout,
                                             FrameLimits limits) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const std::shared_ptr<Connection> self(
      new Connection(poller, std::move(socket), std::move(events)));
  self->reader_.set_limits(limits);
  poller.watch(self->socket_.get(), EPOLLIN,
               [self](std::uint32_t ready_events) { self->ready(ready_events); });
  self->deadline_ = poller.at(now() + timeout, [raw = self.get(), timeout] {
    raw->fail(
        {Errc::timeout, concat("the peer did not say who it is within ", timeout.count(), " ms")});
  });
  return self;
}

Connection::Connection(Poller& poller, Fd socket, Events events)
    : poller_(poller), socket_(std::move(socket)), events_(std::move(events)) {}

Connection::~Connection() = default;

void Connection::send(wire::Frame frame) {
  if (write_error_.load(std::memory_order_relaxed) != 0) return;
  if (queue_.push(new Outgoing(std::move(frame)))) write();
}

// Called by the writer. The role is left with the queue once that is empty, or with the poller
// while the socket is full.
void Connection::write() {
  do {
    int error = write_error_.load(std::memory_order_relaxed);
    if (error == 0) error = writer_.write(socket_.get());
    if (error == EAGAIN) return wait_for_room();
    if (error != 0) {
      writer_.clear();
      // The poller reads what the peer still had to say, then finds the end.
      if (write_error_.exchange(error) == 0) ::shutdown(socket_.get(), SHUT_RDWR);
    }
    if (asked_for_room_) poller_.change(socket_.get(), EPOLLIN);
    asked_for_room_ = false;
  } while (writer_.add(queue_.take()));
}

void Connection::wait_for_room() {
  const bool asked = std::exchange(asked_for_room_, true);
  blocked_.store(true, std::memory_order_release);
  // The poller is the writer from here on, or will be when it is told.
  if (!asked) poller_.change(socket_.get(), EPOLLIN | EPOLLOUT);
}

void Connection::ready(std::uint32_t ready_events) {
  if ((ready_events & EPOLLOUT) != 0 && blocked_.exchange(false, std::memory_order_acquire)) {
    write();
  }
  if ((ready_events & ~std::uint32_t{EPOLLOUT}) != 0) read();
}

void Connection::read() {
  for (int i = 0; i < reads_at_once && open_; ++i) {
    const auto room = reader_.room();
    const ssize_t count = ::readv(socket_.get(), room.data(), static_cast<int>(room.size()));
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      return fail({Errc::io, with_errno("reading from the peer")});
    }
    if (count == 0) {
      const int error = write_error_;
      if (error != 0) errno = error;
      return fail({Errc::io, error != 0 ? with_errno("writing to the peer")
                             : reader_.between_frames()
                                 ? "the peer closed the connection"
                                 : "the peer closed the connection in the middle of a frame"});
    }
    reader_.filled(static_cast<std::size_t>(count));
    deliver();
    // The socket is empty; if not, the poller says so.
    if (static_cast<std::size_t>(count) < room[0].iov_len + room[1].iov_len) return;
  }
}

void Connection::deliver() {
  while (open_) {
    auto frame = reader_.next();
    if (!frame) return fail(frame.error());
    if (!*frame) return;
    events().received(std::move(**frame));
  }
}

Connection::Events& Connection::events() {
  if (next_events_) {
    events_ = std::move(*next_events_);
    next_events_.reset();
  }
  return events_;
}

void Connection::trust(Events to) {
  if (deadline_) poller_.cancel(*std::exchange(deadline_, std::nullopt));
  reader_.set_limits({});
  next_events_ = std::move(to);
}

void Connection::fail(Error why) {
  const auto self = shared_from_this();
  const auto lost = std::move(events().lost);
  close();
  lost(std::move(why));
}

void Connection::close() {
  if (!open_) return;
  open_ = false;
  int none = 0;
  write_error_.compare_exchange_strong(none, ESHUTDOWN);
  if (deadline_) poller_.cancel(*std::exchange(deadline_, std::nullopt));
  // Senders may be at it: the descriptor is closed with the last of them.
  ::shutdown(socket_.get(), SHUT_RDWR);
  poller_.forget(socket_.get());
}

}  // namespace piracema::net
