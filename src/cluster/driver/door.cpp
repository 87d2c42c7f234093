#include "cluster/driver/door.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
// A Hello brings the graph along: some 100 bytes a node.
constexpr net::FrameLimits hello_limits{.head_bytes = std::uint64_t{4} << 20, .body_bytes = 0};
}  // namespace

Result<std::unique_ptr<Door>> Door::open(net::Poller& poller, std::string token, Events events,
                                         const std::string& host, std::uint16_t port,
                                         net::Sealed sealed) {
  std::unique_ptr<Door> door(new Door(poller, std::move(token), std::move(events), sealed));
  if (auto listens = door->listen(host, port); !listens) return listens.error();
  return door;
}

Result<std::string> Door::listen(const std::string& host, std::uint16_t port) {
  auto listener = net::Listener::open(
      poller_, host, port,
      [this](Fd socket, const net::Address& peer) { accept(std::move(socket), peer.text()); });
  if (!listener) return listener.error();
  listeners_.push_back(*std::move(listener));
  return listeners_.back()->address();
}

std::vector<std::string> Door::addresses() const {
  std::vector<std::string> all;
  for (const auto& listener : listeners_) all.push_back(listener->address());
  return all;
}

Door::Door(net::Poller& poller, std::string token, Events events, net::Sealed sealed)
    : poller_(poller),
      token_(std::move(token)),
      events_(std::move(events)),
      sealed_(sealed),
      warnings_(poller) {}

Door::~Door() { shut(); }

void Door::hold() {
  held_ = true;
  for (const auto& listener : listeners_) listener->hold();
}

void Door::shut() {
  listeners_.clear();
  for (auto& [number, stranger] : strangers_) stranger.line->close();
  strangers_.clear();
}

void Door::accept(Fd socket, const std::string& peer) {
  const std::uint64_t number = stranger_count_++;
  auto line = net::Connection::open(
      poller_, std::move(socket),
      {.received = [this, number](const wire::Frame& frame) { hear(number, frame); },
       .lost = [this, number](const Error& why) { refuse(number, why.message); }});
  const net::Sealing sealing = net::sealing_for(line->reach(), sealed_);
  strangers_.emplace(
      number, Stranger{peer, std::move(line),
                       net::Handshake(token_, net::Purpose::control, net::draw_nonce(), sealing)});
}

void Door::hear(std::uint64_t number, const wire::Frame& frame) {
  if (held_) return;
  Stranger& stranger = strangers_.at(number);
  const bool says_hello = stranger.wants == Stranger::Wants::hello;
  const auto taken = says_hello ? let_in(stranger, frame) : take(stranger, frame);
  if (!taken) {
    refuse(number, taken.error().message);
  } else if (says_hello) {
    strangers_.erase(number);
  }
}

Result<Done> Door::take(Stranger& stranger, const wire::Frame& frame) {
  if (stranger.wants == Stranger::Wants::call) {
    if (auto call = stranger.handshake.take_call(frame); !call) return call.error();
    stranger.wants = Stranger::Wants::proof;
    stranger.line->send(stranger.handshake.answer({}));
    return Done{};
  }
  if (auto proven = stranger.handshake.take_proof(frame); !proven) return proven;
  stranger.wants = Stranger::Wants::hello;
  stranger.line->allow(hello_limits);
  const auto keys = stranger.handshake.keys();
  return keys ? stranger.line->seal(*keys) : Done{};
}

Result<Done> Door::let_in(Stranger& stranger, const wire::Frame& frame) {
  auto events = welcome(stranger.line, frame);
  if (!events) return events.error();
  stranger.line->trust(*std::move(events));
  return Done{};
}

Result<net::Connection::Events> Door::welcome(Line line, const wire::Frame& frame) const {
  if (auto agent = from_agent(frame); agent && events_.agent) {
    if (const auto* hello = std::get_if<AgentHello>(&*agent)) {
      return events_.agent(*hello, std::move(line));
    }
  }
  if (const auto onlooker = from_onlooker(frame); onlooker && events_.onlooker) {
    if (std::holds_alternative<OnlookerHello>(*onlooker)) return events_.onlooker(std::move(line));
  }
  auto message = runtime::from_worker(frame);
  if (!message) return message.error();
  const auto* hello = std::get_if<runtime::Hello>(&*message);
  if (hello == nullptr) {
    return Error{Errc::refused, concat("want a Hello first, found a frame of kind ", frame.kind)};
  }
  if (auto expected = events_.expected(*hello); !expected) {
    if (expected.error().code == Errc::lost) return expected.error();
    // It is one of ours: it may know why it has to go.
    line->send(
        runtime::to_frame(runtime::ToWorker(runtime::Shutdown{3, expected.error().message})));
    return expected.error();
  }
  return events_.joined(*hello, std::move(line));
}

void Door::refuse(std::uint64_t stranger, const std::string& why) {
  const auto node = strangers_.extract(stranger);
  if (node.empty()) return;
  node.mapped().line->close();
  if (held_) return;
  warnings_.warn(concat("refused a connection from ", node.mapped().peer, ": ", why));
}

}  // namespace piracema::cluster
