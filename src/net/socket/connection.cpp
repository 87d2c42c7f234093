#include "net/socket/connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/ensure.h"
#include "base/text.h"
#include "net/socket/descriptors.h"
#include "net/socket/tcp_options.h"

namespace piracema::net {

namespace {
// A connection that never runs dry lets the others have their turn after so many reads.
constexpr int reads_at_once = 16;
constexpr std::size_t channel_bytes_at_once = std::size_t{2} << 20;
// What a peer said before its end travels no longer than this.
constexpr std::chrono::seconds over_within{2};

std::string name_of_peer(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "the peer";
  return peer.ss_family == AF_UNIX ? "this host" : Address(peer).text();
}
}  // namespace

std::shared_ptr<Connection> Connection::open(Poller& poller, Fd socket, Events events,
                                             std::chrono::milliseconds timeout,
                                             FrameLimits limits) {
  set_tcp_options(socket.get());
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
    : poller_(poller),
      socket_(std::move(socket)),
      reach_(reach_of(socket_.get())),
      events_(std::move(events)) {}

Connection::~Connection() = default;

void Connection::send(wire::Frame frame) {
  if (write_error_.load(std::memory_order_relaxed) != 0) return;
  if (queue_.push(new Outgoing(std::move(frame)))) write();
}

void Connection::send(std::vector<wire::Frame> frames) {
  if (frames.empty() || write_error_.load(std::memory_order_relaxed) != 0) return;
  Outgoing* const first = new Outgoing(std::move(frames[0]));
  Outgoing* last = first;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    Outgoing* const next = new Outgoing(std::move(frames[i]));
    next->next = std::exchange(last, next);
  }
  if (queue_.push(last, first)) write();
}

// Called by the writer. The role is left with the queue once that is empty, or with the poller
// while the socket is full.
void Connection::write() {
  while (true) {
    int error = write_error_.load(std::memory_order_relaxed);
    if (error == 0) {
      error = channel_       ? writer_.write(*channel_)
              : records_out_ ? writer_.write(socket_.get(), *records_out_)
                             : writer_.write(socket_.get());
    }
    if (error == EAGAIN) {
      if (wait_for_room()) return;
      continue;  // There is room already; `take` is not asked, for `writer_` has frames.
    }
    if (error != 0) {
      writer_.clear();
      // The poller reads what the peer still had to say, then finds the end.
      if (write_error_.exchange(error) == 0) ::shutdown(socket_.get(), SHUT_RDWR);
    }
    if (asked_for_room_) poller_.change(socket_.get(), EPOLLIN);
    asked_for_room_ = false;
    if (!writer_.add(queue_.take())) return;
  }
}

// True when the poller has become the writer, or will when there is room.
bool Connection::wait_for_room() {
  if (channel_) {
    blocked_.store(true, std::memory_order_release);
    return channel_->wait_for_room() || !blocked_.exchange(false, std::memory_order_acquire);
  }
  const bool asked = std::exchange(asked_for_room_, true);
  blocked_.store(true, std::memory_order_release);
  // The poller is the writer from here on, or will be when it is told.
  if (!asked) poller_.change(socket_.get(), EPOLLIN | EPOLLOUT);
  return true;
}

void Connection::ready(std::uint32_t ready_events) {
  if ((ready_events & EPOLLOUT) != 0 && blocked_.exchange(false, std::memory_order_acquire)) {
    write();
  }
  if ((ready_events & ~std::uint32_t{EPOLLOUT}) != 0) read();
}

void Connection::read() {
  for (int i = 0; i < reads_at_once && open_; ++i) {
    if (channel_) return ended();
    auto room = records_in_ ? std::array{records_in_->room(), iovec{}} : reader_.room();
    const ssize_t count = read_socket(room);
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      return fail({Errc::io, with_errno("reading from the peer")});
    }
    if (count == 0) return ended();
    if (records_in_) {
      records_in_->filled(static_cast<std::size_t>(count));
    } else {
      reader_.filled(static_cast<std::size_t>(count));
      deliver();
    }
    // Perhaps since a moment ago.
    if (records_in_) open_records();
    // The socket is empty; if not, the poller says so.
    if (static_cast<std::size_t>(count) < room[0].iov_len + room[1].iov_len) return;
  }
}

ssize_t Connection::read_socket(std::span<iovec> room) {
  if (is_local()) return read_with_descriptors(socket_.get(), room, descriptors_);
  return ::readv(socket_.get(), room.data(), static_cast<int>(room.size()));
}

// The socket has ended, or says what it should not.
void Connection::ended() {
  if (!channel_) return finish_when_over();
  std::byte byte;
  const ssize_t count = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) return fail({Errc::corrupt, "the peer wrote beside its channel"});
  poller_.forget(socket_.get());
  over_by_ = now() + over_within;
  deadline_ = poller_.at(*over_by_, [raw = this] {
    raw->deadline_.reset();
    raw->finish_when_over();
  });
  finish_when_over();
}

// What the peer wrote into its channel before its end is still told, and no more than fits there:
// it may be alive and go on.
void Connection::finish_when_over() {
  if (channel_) {
    if (!channel_->is_over() && now() < *over_by_) return;
    if (!read_channel(channel_->capacity())) return;
  }
  const int error = write_error_;
  if (error != 0) errno = error;
  fail({Errc::io, error != 0 ? with_errno("writing to the peer")
                  : reader_.between_frames() && (!records_in_ || records_in_->between_records())
                      ? "the peer closed the connection"
                      : "the peer closed the connection in the middle of a frame"});
}

// ---- sealed -------------------------------------------------------------------------------------

Result<Done> Connection::seal(const SealKeys& keys) {
  if (blocked_) return Error{Errc::io, "the peer does not take what was said before the seal"};
  records_out_ = std::make_unique<RecordWriter>(keys.cipher, keys.out);
  records_in_ = std::make_unique<RecordReader>(keys.cipher, keys.in);
  // Records that came with the last plain frame.
  const Buffer rest = reader_.take_rest();
  const iovec room = records_in_->room();
  ENSURE(rest.size() <= room.iov_len);
  if (!rest.empty()) std::memcpy(room.iov_base, rest.data(), rest.size());
  records_in_->filled(rest.size());
  return Done{};
}

void Connection::open_records() {
  while (open_) {
    const auto count = records_in_->open(reader_.room());
    if (!count) {
      return fail(
          {count.error().code, concat("a connection that is sealed, from ",
                                      name_of_peer(socket_.get()), ": ", count.error().message)});
    }
    if (*count == 0) return;
    reader_.filled(*count);
    deliver();
  }
}

// ---- by a channel -------------------------------------------------------------------------------

Result<Done> Connection::use(std::unique_ptr<ByteChannel> channel) {
  if (!reader_.between_frames() || blocked_) {
    return Error{Errc::corrupt, "more than a greeting came before the channel"};
  }
  descriptors_.clear();
  channel_ = std::move(channel);
  poller_.watch(channel_->bell(), EPOLLIN,
                [self = shared_from_this()](std::uint32_t) { self->rung(); });
  return Done{};
}

// The other side has room again, or something to say; the bell does not tell which.
void Connection::rung() {
  channel_->quiet_bell();
  if (blocked_.exchange(false, std::memory_order_acquire)) write();
  int turns = 0;
  do {
    const auto bytes = read_channel(channel_bytes_at_once);
    if (!bytes) return;
    // Others have their turn first; until then the writer need not ring for what it adds.
    if (++turns == reads_at_once || (poller_.is_returning() && *bytes != 0)) {
      return channel_->ring_again();
    }
  } while ((!poller_.is_returning() && channel_->is_worth_waiting()) || !channel_->sleep());
  if (over_by_) finish_when_over();
}

// Reads until the channel is empty, or so much was read: how much, unless the connection has ended.
std::optional<std::size_t> Connection::read_channel(std::size_t bytes_max) {
  std::size_t bytes = 0;
  while (bytes < bytes_max && open_) {
    const auto room = reader_.room();
    const ssize_t count = channel_->read(room.data(), room.size());
    if (count < 0 && errno == EAGAIN) return bytes;
    if (count < 0) {
      fail({Errc::corrupt, "the peer has broken the rules of its channel"});
      return std::nullopt;
    }
    reader_.filled(static_cast<std::size_t>(count));
    bytes += static_cast<std::size_t>(count);
    deliver();
  }
  if (!open_) return std::nullopt;
  return bytes;
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

std::optional<TcpState> Connection::tcp_state() const {
  if (reach_ != Reach::other_host || channel_) return std::nullopt;
  return tcp_state_of(socket_.get());
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
  if (channel_) poller_.forget(channel_->bell());
}

}  // namespace piracema::net
