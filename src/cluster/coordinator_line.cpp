#include "cluster/coordinator_line.h"

#include <sstream>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
constexpr std::chrono::milliseconds between_calls{100};
}  // namespace

CoordinatorLine::CoordinatorLine(net::Poller& poller, const std::string& addresses,
                                 std::string token, std::chrono::milliseconds wait, Events events)
    : poller_(poller), token_(std::move(token)), wait_(wait), events_(std::move(events)) {
  std::istringstream in(addresses);
  for (std::string one; std::getline(in, one, ',');) addresses_.push_back(one);
  if (addresses_.empty()) addresses_.push_back(addresses);
}

void CoordinatorLine::open() {
  until_ = now() + wait_;
  dial();
}

void CoordinatorLine::dial() {
  const std::string& address = addresses_[next_++ % addresses_.size()];
  call_ = std::make_unique<CoordinatorCall>(
      poller_, address, token_,
      [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); });
}

void CoordinatorLine::called(Result<std::shared_ptr<net::Connection>> line) {
  if (!line) return try_again(line.error());
  (*line)->trust({.received = [this](const wire::Frame& frame) { heard(frame); },
                  .lost = [this](const Error& why) { search(why); }});
  had_one_ = true;
  const runtime::FromWorker hello = events_.hello();
  const std::lock_guard lock(mutex_);
  line_ = *std::move(line);
  line_->send(to_frame(hello));
}

void CoordinatorLine::say(const runtime::FromWorker& message) {
  const std::lock_guard lock(mutex_);
  attachment_.said(message);
  if (line_) line_->send(to_frame(message));
}

void CoordinatorLine::heard(const wire::Frame& frame) {
  auto message = runtime::to_worker(frame);
  if (!message) return events_.failed(message.error());
  if (const auto* wanted = std::get_if<runtime::Attach>(&*message)) return attach(*wanted);
  {
    const std::lock_guard lock(mutex_);
    if (!attachment_.heard(*message)) return;
  }
  events_.received(*message);
}

// One that was given up and woke is as dead as one that does not answer.
void CoordinatorLine::attach(const runtime::Attach& attach) {
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (attachment_.admit(attach.term)) {
      for (const runtime::FromWorker& answer : attachment_.answer()) line_->send(to_frame(answer));
      return;
    }
    line_->close();
    why = concat("it is of term ", attach.term, ", and there was one of term ", attachment_.term());
  }
  search({Errc::refused, why});
}

void CoordinatorLine::search(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    dropped_ = std::exchange(line_, nullptr);
  }
  if (wait_.count() == 0) return events_.lost(why);
  log(Level::warning, concat("the coordinator is gone (", why.message,
                             "): looking for another for ", wait_.count(), " ms"));
  until_ = now() + wait_;
  try_again(why);
}

void CoordinatorLine::try_again(const Error& why) {
  if (now() >= until_) return had_one_ ? events_.lost(why) : events_.failed(why);
  poller_.at(now() + between_calls, [this] { dial(); });
}

}  // namespace piracema::cluster
