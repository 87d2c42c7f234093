#include "cluster/driver_door.h"

#include <sys/random.h>

#include <array>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "net/handshake.h"

namespace piracema::cluster {

namespace {
// Somebody who knocks without end must not fill the log.
constexpr std::uint64_t refusals_told_max = 20;
// A Hello brings the graph along: some 100 bytes a node.
constexpr net::FrameLimits hello_limits{.head_bytes = std::uint64_t{4} << 20, .body_bytes = 0};
}  // namespace

Result<std::unique_ptr<Door>> Door::open(net::Poller& poller, std::string token, Expected expected,
                                         OnJoined on_joined) {
  std::unique_ptr<Door> door(
      new Door(poller, std::move(token), std::move(expected), std::move(on_joined)));
  auto listener = net::Listener::open(poller, "127.0.0.1", 0,
                                      [self = door.get()](Fd socket, const net::Address& peer) {
                                        self->accept(std::move(socket), peer.text());
                                      });
  if (!listener) return listener.error();
  door->listener_ = *std::move(listener);
  return door;
}

Door::Door(net::Poller& poller, std::string token, Expected expected, OnJoined on_joined)
    : poller_(poller),
      token_(std::move(token)),
      expected_(std::move(expected)),
      on_joined_(std::move(on_joined)) {}

Door::~Door() {
  for (auto& [number, stranger] : strangers_) stranger.line->close();
}

void Door::accept(Fd socket, const std::string& peer) {
  const std::uint64_t number = stranger_count_++;
  auto line =
      net::Connection::open(poller_, std::move(socket),
                            {.received = [this, number](wire::Frame frame) { hear(number, frame); },
                             .lost = [this, number](Error why) { refuse(number, why.message); }},
                            net::Connection::stranger_timeout, hello_limits);
  strangers_.emplace(number, Stranger{peer, std::move(line)});
}

void Door::hear(std::uint64_t stranger, const wire::Frame& frame) {
  const auto hello = read_hello(frame);
  if (!hello) {
    refuse(stranger, hello.error().message);
    return;
  }
  const Line line = strangers_.at(stranger).line;
  if (auto expected = expected_(*hello); !expected) {
    // It is one of ours, or knows the secret at least: it may know why it has to go.
    line->send(
        runtime::to_frame(runtime::ToWorker(runtime::Shutdown{3, expected.error().message})));
    refuse(stranger, expected.error().message);
    return;
  }
  strangers_.erase(stranger);
  line->trust(on_joined_(*hello, line));
}

Result<runtime::Hello> Door::read_hello(const wire::Frame& frame) const {
  auto message = runtime::from_worker(frame);
  if (!message) return message.error();
  auto* hello = std::get_if<runtime::Hello>(&*message);
  if (hello == nullptr) {
    return Error{Errc::refused, concat("want a Hello first, found a frame of kind ", frame.kind)};
  }
  if (!net::same_secret(hello->token, token_)) {
    return Error{Errc::refused, "its token is not that of this job"};
  }
  return std::move(*hello);
}

void Door::refuse(std::uint64_t stranger, const std::string& why) {
  const auto node = strangers_.extract(stranger);
  if (node.empty()) return;
  node.mapped().line->close();
  refused_count_ += 1;
  if (refused_count_ > refusals_told_max) return;
  log(Level::warning,
      concat(
          "refused a connection from ", node.mapped().peer, ": ", why,
          refused_count_ == refusals_told_max ? "; further ones are refused without a word" : ""));
}

Result<std::string> Door::make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Error{Errc::io, with_errno("random bytes for the job's token")};
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace piracema::cluster
