#include "smr/link/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "net/socket/address.h"
#include "net/socket/tcp_options.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {

// ---- docs/formats/smr_wire.md

/// A record: length of the payload, number of the record, payload; its tag once keys are agreed.
constexpr std::size_t record_header_bytes = 4 + 8;
/// In a payload: length, kind, bytes.
constexpr std::size_t message_header_bytes = 4 + 1;
/// A record of more is closed, so that the peer can begin with it.
constexpr std::size_t record_bytes = std::size_t{256} << 10;

constexpr std::size_t stranger_bytes_max = 512;
constexpr std::size_t read_bytes = std::size_t{256} << 10;
/// One that never falls silent lets the others have their turn.
constexpr int reads_at_once = 4;

void write_number(std::byte* out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

void FlushList::flush() {
  taken_.swap(links_);
  for (const auto& link : taken_) {
    link->listed_ = false;
    link->flush();
  }
  taken_.clear();
}

std::shared_ptr<Link> Link::open(net::Poller& poller, FlushList& flush_list, Fd socket,
                                 Handshake handshake, bool dialled, Events events,
                                 const Limits& limits) {
  net::set_tcp_options(socket.get());
  const std::shared_ptr<Link> self(new Link(poller, flush_list, std::move(socket),
                                            std::move(handshake), std::move(events), limits));
  self->wanted_ = EPOLLIN;
  poller.watch(self->socket_.get(), EPOLLIN,
               [self](std::uint32_t ready_events) { self->ready(ready_events); });
  self->deadline_ = poller.at(now() + limits.stranger_time, [raw = self.get()] {
    raw->deadline_.reset();
    raw->fail({Errc::timeout, concat("the peer did not show who it is within ",
                                     raw->limits_.stranger_time.count(), " ms")});
  });
  if (net::reach_of(self->socket_.get()) == net::Reach::other_host) self->handshake_.want_seal();
  if (dialled) self->put_plain(self->handshake_.hello());
  return self;
}

Link::Link(net::Poller& poller, FlushList& flush_list, Fd socket, Handshake handshake,
           Events events, const Limits& limits)
    : poller_(poller),
      flush_list_(flush_list),
      socket_(std::move(socket)),
      handshake_(std::move(handshake)),
      events_(std::move(events)),
      limits_(limits),
      message_bytes_(limits.message_bytes) {}

void Link::ready(std::uint32_t ready_events) {
  const auto self = shared_from_this();
  if ((ready_events & EPOLLOUT) != 0) {
    full_ = false;
    flush();
  }
  if ((ready_events & ~std::uint32_t{EPOLLOUT}) == 0 || !open_) return;
  if (paused_) {
    // It may have been told before the link was paused that there is something to read.
    if ((ready_events & (EPOLLHUP | EPOLLERR)) == 0) return;
    return fail({Errc::io, "the peer closed the connection"});
  }
  if (turns_ != nullptr) return turns_->add(self);
  read(reads_at_once);
}

void Link::take_turn() {
  if (open_ && !paused_) read(1);
  watch();
}

void Link::read_in_turn(ReadTurns* turns, std::string source) {
  turns_ = turns;
  source_ = std::move(source);
}

void Link::pause(bool paused) {
  if (!open_ || paused_ == paused) return;
  paused_ = paused;
  watch();
  if (!paused_ && has_whole_ && turns_ != nullptr) turns_->add(shared_from_this());
}

void Link::watch() {
  if (!open_) return;
  const std::uint32_t wanted =
      (paused_ || waits_ ? 0u : std::uint32_t{EPOLLIN}) | (full_ ? std::uint32_t{EPOLLOUT} : 0u);
  if (wanted == wanted_) return;
  wanted_ = wanted;
  poller_.change(socket_.get(), wanted);
}

void Link::fail(Error why) {
  const auto self = shared_from_this();
  if (!open_) return;
  close();
  events_.lost(*this, why);
}

void Link::close() {
  if (!open_) return;
  flush();
  open_ = false;
  if (deadline_) poller_.cancel(*std::exchange(deadline_, std::nullopt));
  poller_.forget(socket_.get());
  ::shutdown(socket_.get(), SHUT_RDWR);
}

// ---- what it reads: records, and the messages in them

void Link::read(int times) {
  if (std::exchange(has_whole_, false)) {
    Buffer kept = std::exchange(in_, {});
    const std::size_t taken = take_records({kept.data(), kept.size()});
    if (open_) in_ = Buffer(Bytes(kept).subspan(taken));
  }
  // What is there as a whole is looked at where it was read; only pieces of records are kept.
  thread_local std::vector<std::byte> scratch(read_bytes);
  for (int i = 0; i < times && open_ && !paused_; ++i) {
    const std::size_t kept = in_.size();
    std::byte* room = scratch.data();
    if (kept != 0) room = in_.extend(read_bytes);
    const ssize_t count = ::read(socket_.get(), room, read_bytes);
    if (kept != 0) in_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      return fail({Errc::io, with_errno("reading from the peer")});
    }
    if (count == 0) return fail({Errc::io, "the peer closed the connection"});
    const std::span<std::byte> bytes = kept != 0 ? std::span(in_.data(), in_.size())
                                                 : std::span(room, static_cast<std::size_t>(count));
    const std::size_t taken = take_records(bytes);
    // A large record stays where it grows; anything else is moved once.
    if (!open_)
      in_.clear();
    else if (kept == 0 || taken != 0)
      in_ = Buffer(bytes.subspan(taken));
    if (static_cast<std::size_t>(count) < read_bytes) return;
  }
}

// Says how many bytes of whole records there were.
std::size_t Link::take_records(std::span<std::byte> bytes) {
  std::size_t taken = 0;
  while (open_ && bytes.size() - taken >= record_header_bytes) {
    if (stands_still()) {
      has_whole_ = true;
      break;
    }
    const std::span<std::byte> rest = bytes.subspan(taken);
    const std::size_t payload = wire::Reader(rest).number<std::uint32_t>();
    const std::size_t most = known_ ? message_bytes_ + record_bytes : stranger_bytes_max;
    if (payload > most) {
      fail(
          {Errc::corrupt, concat("a record of ", payload, " bytes, at most ", most, " are taken")});
      break;
    }
    const std::size_t whole = record_header_bytes + payload + (known_ ? sizeof(Tag) : 0);
    if (rest.size() < whole || !take_record(rest.first(whole))) break;
    taken += whole;
  }
  return taken;
}

bool Link::take_record(std::span<std::byte> record) {
  const auto number = wire::Reader(record.subspan(4)).number<std::uint64_t>();
  if (!known_)
    return number == 0 ? take_greeting(record.subspan(record_header_bytes))
                       : (fail({Errc::corrupt, "these are not our bytes"}), false);
  const auto payload =
      record.subspan(record_header_bytes, record.size() - record_header_bytes - sizeof(Tag));
  if (number != received_->number() ||
      !received_->open(record.first(record_header_bytes), payload, record.last(sizeof(Tag)))) {
    fail({Errc::corrupt, "a record that the peer did not send as it came"});
    return false;
  }
  return take_messages(payload);
}

bool Link::take_greeting(Bytes payload) {
  Buffer answer;
  const auto done = handshake_.take(payload, answer);
  if (!answer.empty()) put_plain(answer);
  if (!done) {
    fail(done.error());
    return false;
  }
  if (*done) become_known();
  return open_;
}

void Link::become_known() {
  known_ = true;
  const LinkKeys& keys = handshake_.keys();
  sent_.emplace(keys.send, keys.protection);
  received_.emplace(keys.receive, keys.protection);
  if (deadline_) poller_.cancel(*std::exchange(deadline_, std::nullopt));
  events_.known(*this);
}

bool Link::take_messages(Bytes payload) {
  while (open_ && !payload.empty()) {
    const auto size =
        payload.size() < message_header_bytes ? 0 : wire::Reader(payload).number<std::uint32_t>();
    if (size == 0 || size > payload.size() - 4 || size - 1 > message_bytes_) {
      fail({Errc::corrupt, concat("a message of ", size, " bytes in a record that has ",
                                  payload.size(), " left")});
      return false;
    }
    events_.received(*this, static_cast<std::uint8_t>(payload[4]),
                     payload.subspan(message_header_bytes, size - 1));
    payload = payload.subspan(4 + std::size_t{size});
  }
  return open_;
}

// ---- what it writes: messages, gathered into records

// Of the handshake: small, without a tag, at once.
void Link::put_plain(Bytes payload) {
  begin_record();
  out_.append(payload.data(), payload.size());
  write_number(out_.data() + *record_, payload.size(), 4);
  write_number(out_.data() + *record_ + 4, 0, 8);
  record_.reset();
  flush();
}

void Link::begin_record() {
  record_ = out_.size();
  out_.extend(record_header_bytes);
}

bool Link::send(std::uint8_t kind, Bytes first, Bytes second) {
  const std::size_t size = message_header_bytes + first.size() + second.size();
  if (!open_ || !known_ || out_.size() - written_ + size > limits_.waiting_bytes) return false;
  if (!record_) begin_record();
  wire::Writer writer(out_);
  writer.number(static_cast<std::uint32_t>(size - 4));
  writer.number(kind);
  out_.append(first.data(), first.size());
  out_.append(second.data(), second.size());
  if (out_.size() - *record_ > record_bytes) seal();
  if (!std::exchange(listed_, true)) flush_list_.add(shared_from_this());
  return true;
}

void Link::seal() {
  if (!record_) return;
  std::byte* const record = out_.data() + *record_;
  const std::size_t size = out_.size() - *record_;
  write_number(record, size - record_header_bytes, 4);
  write_number(record + 4, sent_->number(), 8);
  const Tag tag = sent_->close(Bytes(record, record_header_bytes),
                               std::span(record + record_header_bytes, size - record_header_bytes));
  out_.append(tag.data(), tag.size());
  record_.reset();
}

void Link::flush() {
  if (!open_) return;
  seal();
  while (!full_ && written_ < out_.size()) {
    const ssize_t count =
        ::send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL);
    if (count >= 0) {
      written_ += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      full_ = true;
    } else if (errno != EINTR) {
      // The poller reads what the peer still had to say, then finds the end.
      ::shutdown(socket_.get(), SHUT_RDWR);
      out_.clear();
      written_ = 0;
      return;
    }
  }
  if (written_ == out_.size()) {
    out_.clear();
    written_ = 0;
    if (out_.capacity() > 4 * record_bytes) out_ = Buffer();
  } else if (written_ > out_.size() / 2) {
    Buffer rest(Bytes(out_).subspan(written_));
    out_.swap(rest);
    written_ = 0;
  }
  watch();
}

}  // namespace piracema::smr
