#include "jobs/streams/stream_reporter.h"

#include <utility>
#include <variant>

namespace piracema::jobs {

StreamReporter::StreamReporter(net::Poller& poller, const JobFiles& files, Node node, Ask ask)
    : poller_(poller), files_(files), node_(std::move(node)), ask_(std::move(ask)) {}

StreamReporter::~StreamReporter() {
  if (timer_) poller_.cancel(*timer_);
}

void StreamReporter::began(const Attempt& attempt, uid_t user) {
  streams_[attempt].user = user;
  step(StreamWatch::Began{attempt});
}

void StreamReporter::ended(const Attempt& attempt) {
  if (streams_.erase(attempt) != 0) step(StreamWatch::Gone{attempt});
}

void StreamReporter::step(const StreamWatch::Event& event) {
  for (const StreamWatch::Action& action : watch_.step(now(), event)) {
    std::visit([this](const auto& what) { act(what); }, action);
  }
  wake_in_time();
}

void StreamReporter::wake_in_time() {
  if (timer_) poller_.cancel(*std::exchange(timer_, std::nullopt));
  const auto next = watch_.next_deadline();
  if (!next) return;
  timer_ = poller_.at(*next, [this] {
    timer_.reset();
    step(StreamWatch::Woken{});
  });
}

// It answers later, as all else: from the loop.
void StreamReporter::act(const StreamWatch::Look& look) {
  const Attempt attempt = look.attempt;
  Stream& stream = streams_.at(attempt);
  const auto address = StreamAddress::read(files_.address_file_of(attempt), stream.user);
  if (address && *address) {
    stream.glance = std::make_unique<StreamGlance>(
        poller_, **address,
        [this, attempt](Result<std::string> body) { seen(attempt, std::move(body)); });
    return;
  }
  const std::string why = address ? shows_no_stream : address.error().message;
  poller_.post([this, alive = std::weak_ptr<bool>(alive_), attempt, why] {
    if (!alive.expired()) step(StreamWatch::Seen{{.attempt = attempt, .why = why}});
  });
}

void StreamReporter::seen(const Attempt& attempt, Result<std::string> body) {
  streams_.at(attempt).glance.reset();
  if (body) return step(StreamWatch::Seen{stream_sight(attempt, *body)});
  const bool is_late = body.error().code == Errc::timeout;
  step(StreamWatch::Seen{bounded({.attempt = attempt, .why = body.error().message}), is_late});
}

void StreamReporter::act(const StreamWatch::Tell& tell) {
  ask_(TellStreams{node_.name, node_.incarnation, tell.sights},
       [this, alive = std::weak_ptr<bool>(alive_)](Result<Answer> answer) {
         std::optional<bool> is_watched;
         if (answer && answer->verdict == Answer::Verdict::done) is_watched = answer->mark != 0;
         poller_.post([this, alive, is_watched] {
           if (!alive.expired()) step(StreamWatch::Told{is_watched});
         });
       });
}

}  // namespace piracema::jobs
