#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "smr/link/link.h"
#include "smr/link/link_records.h"
#include "wire/reader.h"

/// What a link reads: records, and the messages in them.
namespace piracema::smr {

namespace {

constexpr std::size_t stranger_bytes_max = 512;
constexpr std::size_t read_bytes = std::size_t{256} << 10;

}  // namespace

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

}  // namespace piracema::smr
