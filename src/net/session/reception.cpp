#include "net/session/reception.h"

#include <sys/random.h>

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "net/socket/descriptors.h"

namespace piracema::net {

namespace {
constexpr std::size_t hosts_remembered_max = 64;
}  // namespace

Result<std::unique_ptr<Reception>> Reception::open(Poller& poller, const std::string& host,
                                                   std::uint16_t port, std::string token,
                                                   Sealed sealed, std::chrono::milliseconds timeout,
                                                   Events events) {
  std::unique_ptr<Reception> self(
      new Reception(poller, std::move(token), sealed, timeout, std::move(events)));
  auto listener = Listener::open(
      poller, host, port,
      [raw = self.get()](Fd socket, const Address& from) { raw->accept(std::move(socket), from); });
  if (!listener) return listener.error();
  self->listener_ = std::move(*listener);
  return self;
}

Result<Done> Reception::listen_locally() {
  // Nobody has to guess the name, so it only has to be one of its own.
  std::uint64_t number[2] = {};
  if (::getrandom(number, sizeof number, 0) != sizeof number) {
    return Error{Errc::io, with_errno("a name for a local socket")};
  }
  auto address = Address::make_local(concat("piracema-", number[0], "-", number[1]));
  if (!address) return address.error();
  auto listener = Listener::open(poller_, *address, [this](Fd socket, const Address& from) {
    if (is_our_user(socket.get())) return accept(std::move(socket), from);
    warnings_.warn("refused a connection from another user of this host");
  });
  if (!listener) return listener.error();
  local_listener_ = std::move(*listener);
  return Done{};
}

std::string Reception::address() const {
  if (!local_listener_) return listener_->address();
  return concat(listener_->address(), ",", local_listener_->address());
}

Reception::Reception(Poller& poller, std::string token, Sealed sealed,
                     std::chrono::milliseconds timeout, Events events)
    : poller_(poller),
      token_(std::move(token)),
      sealed_(sealed),
      timeout_(timeout),
      events_(std::move(events)),
      warnings_(poller) {}

Reception::~Reception() {
  for (auto& [id, stranger] : strangers_) stranger.connection->close();
}

void Reception::accept(Fd socket, const Address& from) {
  const std::uint64_t id = ++stranger_count_;
  auto connection =
      Connection::open(poller_, std::move(socket),
                       {.received = [this, id](const wire::Frame& frame) { read(id, frame); },
                        .lost = [this, id](const Error& why) { refuse(id, why); }},
                       timeout_);
  const Sealing sealing = sealing_for(connection->reach(), sealed_);
  strangers_.emplace(id, Stranger{std::move(connection), from.host(),
                                  Handshake(token_, Purpose::frames, draw_nonce(), sealing)});
}

void Reception::read(std::uint64_t id, const wire::Frame& frame) {
  Stranger& stranger = strangers_.at(id);
  const bool proves = stranger.greeting.has_value();
  const auto taken = proves ? take_proof(stranger, frame) : take_call(stranger, frame);
  if (!taken) return refuse(id, taken.error());
  if (!proves) return;
  const Stranger peer = std::move(strangers_.extract(id).mapped());
  events_.greeted(*peer.greeting, peer.connection);
}

Result<Done> Reception::take_call(Stranger& stranger, const wire::Frame& frame) const {
  const auto about = stranger.handshake.take_call(frame);
  if (!about) return about.error();
  const auto greeting = read_greeting(*about);
  if (!greeting) return greeting.error();
  if (auto wanted = events_.check(*greeting); !wanted) return wanted.error();
  auto answer = events_.answer(*greeting, *stranger.connection);
  if (!answer) return answer.error();
  stranger.greeting = *greeting;
  stranger.channel = std::move(answer->channel);
  stranger.connection->send(stranger.handshake.answer(to_bytes(answer->ours)));
  return Done{};
}

// Between call and proof another one of the same slot may have come.
Result<Done> Reception::take_proof(Stranger& stranger, const wire::Frame& frame) const {
  if (auto proven = stranger.handshake.take_proof(frame); !proven) return proven;
  if (auto wanted = events_.check(*stranger.greeting); !wanted) return wanted;
  if (stranger.channel != nullptr) return stranger.connection->use(std::move(stranger.channel));
  const auto keys = stranger.handshake.keys();
  return keys ? stranger.connection->seal(*keys) : Done{};
}

void Reception::refuse(std::uint64_t id, const Error& why) {
  const Stranger stranger = std::move(strangers_.extract(id).mapped());
  stranger.connection->close();
  std::string warning = concat("refused a connection from ", stranger.host, ": ", why.message);
  // Who calls again and again for the same reason is told of once; who just left, not at all.
  if (last_warnings_.size() > hosts_remembered_max) last_warnings_.clear();
  const bool again = std::exchange(last_warnings_[stranger.host], warning) == warning;
  if (why.code == Errc::io || again) {
    log(Level::debug, warning);
  } else {
    warnings_.warn(std::move(warning));
  }
}

}  // namespace piracema::net
