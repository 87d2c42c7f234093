#include "council/leader_line.h"

#include <chrono>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/text.h"

namespace piracema::council {

namespace {
// Whoever has the line ends it when there is nobody to look for any more.
constexpr Time for_ever = Time::max();
// A coordinator that begins is busy for a while, and nobody waits for this line.
constexpr std::chrono::seconds leader_answers_within{2};
}  // namespace

LeaderLine::LeaderLine(net::Poller& poller, std::string token, std::vector<std::string> doors,
                       Events events)
    : events_(std::move(events)),
      search_(
          poller, {std::move(token), std::move(doors)},
          [this](Result<std::shared_ptr<net::Connection>> line) { called(std::move(line)); },
          leader_answers_within),
      watch_(poller, [this] {
        if (!search_.searches()) search_.look_for_others(for_ever);
      }) {
  search_.begin(for_ever);
}

LeaderLine::~LeaderLine() {
  if (line_) line_->close();
}

bool LeaderLine::say(const Signalled& signalled) {
  return send(cluster::HandedOnSignal{signalled.number, signalled.id});
}

bool LeaderLine::ask(const cluster::PageAsked& asked) { return send(asked); }

bool LeaderLine::tell(const cluster::PastOfJob& past) { return send(past); }

bool LeaderLine::send(const cluster::FromOnlooker& message) {
  if (!line_) return false;
  line_->send(to_frame(message));
  return true;
}

void LeaderLine::called(Result<std::shared_ptr<net::Connection>> line) {
  if (!line) return;
  if (line_) line_->close();
  if (line_ && events_.left) events_.left();
  watch_.stop();
  line_ = *std::move(line);
  const net::Connection* const on = line_.get();
  line_->trust({.received = [this, on](const wire::Frame& frame) { heard(on, frame); },
                .lost = [this, on](const Error& why) { lost(on, why); }});
  send(cluster::OnlookerHello{});
  if (events_.came) events_.came();
}

void LeaderLine::heard(const net::Connection* on, const wire::Frame& frame) {
  if (on != line_.get()) return;
  auto message = cluster::to_onlooker(frame);
  if (!message) {
    line_->close();
    return lost(on, message.error());
  }
  watch_.heard();
  if (search_.searches()) search_.stop();
  if (const auto* over = std::get_if<cluster::JobOver>(&*message)) {
    return events_.over(static_cast<int>(over->code));
  }
  if (auto* answer = std::get_if<cluster::PageAnswered>(&*message)) {
    if (events_.answered) events_.answered(std::move(*answer));
    return;
  }
  if (auto* past = std::get_if<cluster::PastOfJob>(&*message)) {
    if (events_.past) events_.past(std::move(*past));
    return;
  }
  const auto& news = std::get<cluster::LeaderNews>(*message);
  search_.known().told(news.coordinators);
  watch_.expect(std::chrono::milliseconds(news.others_after_ms));
  if (events_.are) events_.are(news.coordinators);
}

void LeaderLine::lost(const net::Connection* line, const Error& why) {
  if (line != line_.get()) return;
  seen_at_ = now();
  watch_.stop();
  line_.reset();
  if (events_.left) events_.left();
  log(Level::debug, concat("the coordinator that led is gone: ", why.message));
  search_.begin_again(for_ever, why);
}

}  // namespace piracema::council
