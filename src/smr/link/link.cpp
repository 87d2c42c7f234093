#include "smr/link/link.h"

#include <sys/socket.h>

#include "base/text.h"
#include "net/socket/address.h"
#include "net/socket/tcp_options.h"

namespace piracema::smr {

namespace {
// One that never falls silent lets the others have their turn.
constexpr int reads_at_once = 4;
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

}  // namespace piracema::smr
