#include "cluster/coordinator_line.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

CoordinatorLine::CoordinatorLine(net::Poller& poller, KnownCoordinators known,
                                 std::chrono::milliseconds wait, Events events)
    : wait_(wait),
      events_(std::move(events)),
      search_(poller, std::move(known),
              [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); }),
      watch_(poller, [this] { look_for_others(); }) {}

void CoordinatorLine::open() {
  until_ = now() + wait_;
  search_.begin(until_);
}

void CoordinatorLine::called(Result<std::shared_ptr<net::Connection>> line) {
  // While one is there that is silent, no other was found, or it is looked for again.
  if (!line && line_) return;
  if (!line) return had_one_ ? events_.lost(line.error()) : events_.failed(line.error());
  (*line)->trust({.received = [this](const wire::Frame& frame) { heard(frame); },
                  .lost = [this](const Error& why) { search(why); }});
  had_one_ = true;
  const runtime::FromWorker hello = events_.hello();
  const std::lock_guard lock(mutex_);
  if (line_) {
    log(Level::warning, "the coordinator is silent, and another one has its place");
    line_->close();
    dropped_ = std::exchange(line_, nullptr);
  }
  watch_.stop();
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
  watch_.heard();
  if (search_.searches()) search_.stop();
  if (const auto* there = std::get_if<runtime::StillHere>(&*message)) {
    search_.known().told(there->coordinators);
    return watch_.expect(std::chrono::milliseconds(there->others_after_ms));
  }
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
      attached_ = true;
      return;
    }
    line_->close();
    why = concat("it is of term ", attach.term, ", and there was one of term ", attachment_.term());
  }
  search({Errc::refused, why});
}

void CoordinatorLine::look_for_others() {
  if (!search_.searches()) search_.look_for_others(now() + wait_);
}

void CoordinatorLine::search(const Error& why) {
  watch_.stop();
  {
    const std::lock_guard lock(mutex_);
    dropped_ = std::exchange(line_, nullptr);
  }
  if (wait_.count() == 0) return events_.lost(why);
  if (std::exchange(attached_, false)) {
    log(Level::warning, concat("the coordinator is gone (", why.message,
                               "): looking for another for ", wait_.count(), " ms"));
    until_ = now() + wait_;
  }
  search_.begin_again(until_, why);
}

}  // namespace piracema::cluster
