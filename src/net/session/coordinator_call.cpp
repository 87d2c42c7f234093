#include "net/session/coordinator_call.h"

#include <utility>

namespace piracema::cluster {

namespace {
constexpr std::chrono::seconds dial_timeout{5};
}  // namespace

CoordinatorCall::CoordinatorCall(net::Poller& poller, const std::string& address, std::string token,
                                 OnDone on_done, std::chrono::milliseconds answers_within)
    : poller_(poller),
      token_(std::move(token)),
      on_done_(std::move(on_done)),
      answers_within_(answers_within) {
  const auto where = net::Address::parse(address);
  if (!where) {
    on_done_(where.error());
    return;
  }
  dial_ = std::make_unique<net::Dial>(poller_, *where, now() + dial_timeout,
                                      [this](Result<Fd> socket) { dialled(std::move(socket)); });
}

CoordinatorCall::~CoordinatorCall() {
  if (line_) line_->close();
}

void CoordinatorCall::dialled(Result<Fd> socket) {
  if (!socket) return on_done_(socket.error());
  line_ = net::Connection::open(poller_, *std::move(socket),
                                {.received = [this](const wire::Frame& frame) { answered(frame); },
                                 .lost =
                                     [this](const Error& why) {
                                       line_.reset();
                                       on_done_(why);
                                     }},
                                answers_within_);
  handshake_.emplace(token_, net::Purpose::control, net::draw_nonce(),
                     net::sealing_as_told(line_->reach()));
  line_->send(handshake_->call({}));
}

void CoordinatorCall::answered(const wire::Frame& frame) {
  const auto line = std::exchange(line_, nullptr);
  if (const auto right = handshake_->take_answer(frame); !right) {
    line->close();
    return on_done_(right.error());
  }
  line->send(handshake_->proof());
  if (const auto keys = handshake_->keys()) {
    if (const auto sealed = line->seal(*keys); !sealed) {
      line->close();
      return on_done_(sealed.error());
    }
  }
  on_done_(line);
}

}  // namespace piracema::cluster
