#include "net/socket/mpi_path.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace piracema::net {

namespace {

Fd new_bell() {
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

}  // namespace

// A writer that waits for room is woken by its own side's bell: the thread of MPI is the reader of
// the one ring and the writer of the other.
MpiPath::MpiPath(const PiracemaMpi& mpi, std::uint32_t own_tag, Bell world)
    : tag(own_tag),
      bell(new_bell()),
      mpi_(mpi),
      out_writer_(out_head_, out_room_, world),
      out_reader_(out_head_, out_room_, Bell(bell.get())),
      in_writer_(in_head_, in_room_, Bell(bell.get())),
      in_reader_(in_head_, in_room_, world) {}

MpiPath::~MpiPath() = default;

void MpiPath::join(std::uint32_t rank, std::uint32_t other_tag) {
  other_.store(std::uint64_t{rank} << 32 | other_tag, std::memory_order_release);
}

bool MpiPath::turn() {
  const bool sent = send_some();
  const bool passed = pass_on();
  return sent || passed;
}

bool MpiPath::send_some() {
  bool any = false;
  while (!sending_.empty() && mpi_.is_sent(sending_.front().handle) != 0) {
    sending_.pop_front();
    any = true;
  }
  // Looked at first: nothing is written after it.
  const bool closed = closed_.load(std::memory_order_acquire);
  const std::uint64_t other = other_.load(std::memory_order_acquire);
  if (other == 0) {
    ended_ = closed;
    return any;
  }
  const int rank = static_cast<int>(other >> 32), other_tag = static_cast<int>(other & 0xFFFFFFFF);
  while (!ended_ && sending_.size() < messages_max) {
    Message message;
    message.bytes.resize(message_bytes);
    const iovec part{message.bytes.data(), message.bytes.size()};
    const ssize_t count = out_reader_.read(&part, 1);
    if (count <= 0 && !closed) break;
    ended_ = count <= 0;
    any = true;
    const int bytes = count > 0 ? static_cast<int>(count) : 0;
    message.handle = mpi_.send(message.bytes.data(), bytes, rank, other_tag);
    sending_.push_back(std::move(message));
  }
  return any;
}

void MpiPath::received(Buffer message) {
  if (message.empty()) {
    end_came_ = true;
  } else if (!closed_.load(std::memory_order_relaxed)) {
    waiting_.push_back(std::move(message));
  }
  pass_on();
}

bool MpiPath::pass_on() {
  bool any = false;
  while (!waiting_.empty()) {
    Buffer& oldest = waiting_.front();
    const iovec part{oldest.data() + passed_on_, oldest.size() - passed_on_};
    const ssize_t count = in_writer_.write(&part, 1);
    if (count < 0 && in_writer_.wait_for_room()) break;
    if (count < 0) continue;
    any = true;
    passed_on_ += static_cast<std::size_t>(count);
    if (passed_on_ < oldest.size()) continue;
    passed_on_ = 0;
    waiting_.pop_front();
  }
  if (waiting_.empty() && end_came_ && !over_.exchange(true)) Bell(bell.get()).ring();
  return any;
}

bool MpiPath::sleep() { return sending_.empty() && waiting_.empty() && out_reader_.sleep(); }

}  // namespace piracema::net
