#include "net/call.h"

#include "base/text.h"

namespace piracema::net {

namespace {
constexpr std::chrono::milliseconds retry_interval{20};
}  // namespace

Call::Call(Poller& poller, Greeting mine, Whom whom, Time deadline, OnDone on_done)
    : poller_(poller),
      mine_(std::move(mine)),
      whom_(std::move(whom)),
      deadline_(deadline),
      on_done_(std::move(on_done)) {
  auto address = Address::parse(whom_.address);
  if (address) {
    address_ = *address;
    dial();
  } else {
    next_ = poller.at(now(), [this, error = address.error()] { finish(error); });
  }
}

Call::~Call() {
  poller_.cancel(next_);
  if (connection_) connection_->close();
}

void Call::dial() {
  dial_ = std::make_unique<Dial>(poller_, address_, deadline_, [this](Result<Fd> socket) {
    if (socket) {
      greet(std::move(*socket));
    } else {
      failed(socket.error());
    }
  });
}

void Call::greet(Fd socket) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - now());
  connection_ = Connection::open(poller_, std::move(socket),
                                 {.received = [this](wire::Frame frame) { answered(frame); },
                                  .lost = [this](Error why) { failed(std::move(why)); }},
                                 left);
  connection_->send(to_frame(mine_));
}

void Call::answered(const wire::Frame& frame) {
  if (auto right = check(frame); right) {
    finish(std::move(connection_));
  } else {
    connection_->close();
    failed(right.error());
  }
}

Result<Done> Call::check(const wire::Frame& frame) const {
  auto greeting = read_greeting(frame, mine_.token);
  if (!greeting) return greeting.error();
  if (greeting->slot != whom_.slot || greeting->incarnation != whom_.incarnation) {
    return Error{Errc::refused,
                 concat("handshake: want slot ", whom_.slot, ", incarnation ", whom_.incarnation,
                        ", found slot ", greeting->slot, ", incarnation ", greeting->incarnation)};
  }
  return Done{};
}

void Call::failed(Error why) {
  connection_.reset();
  const Time next = now() + retry_interval;
  if (next >= deadline_) return finish(std::move(why));
  next_ = poller_.at(next, [this] { dial(); });
}

void Call::finish(Result<std::shared_ptr<Connection>> result) {
  const auto on_done = std::move(on_done_);
  on_done(std::move(result));  // The last step: it may have destroyed this.
}

}  // namespace piracema::net
