#include "cluster/driver/onlookers.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "cluster/driver/crew.h"

namespace piracema::cluster {

namespace {
// There is one command, and a few coordinators. Who has come first is the one that is gone.
constexpr std::size_t onlookers_max = 16;
}  // namespace

net::Connection::Events Onlookers::joined(Door::Line line) {
  if (lines_.size() == onlookers_max) {
    lines_.front()->close();
    lines_.erase(lines_.begin());
  }
  net::Connection* const this_one = line.get();
  const std::weak_ptr<net::Connection> speaks = line;
  lines_.push_back(std::move(line));
  return {.received =
              [this, this_one, speaks](const wire::Frame& frame) {
                const auto on = speaks.lock();
                if (!on || heard(on, frame)) return;
                on->close();
                lost(this_one);
              },
          .lost = [this, this_one](const Error&) { lost(this_one); }};
}

bool Onlookers::heard(const Door::Line& line, const wire::Frame& frame) {
  const auto message = from_onlooker(frame);
  if (!message) return false;
  if (const auto* signal = std::get_if<HandedOnSignal>(&*message)) {
    handed_on_(*signal);
    return true;
  }
  if (const auto* past = std::get_if<PastOfJob>(&*message)) {
    if (past_) past_(*past);
    return true;
  }
  const auto* asked = std::get_if<PageAsked>(&*message);
  if (asked == nullptr) return false;
  if (!asked_) {
    line->send(to_frame(ToOnlooker(PageAnswered{.id = asked->id,
                                                .code = 404,
                                                .type = "text/plain; charset=utf-8",
                                                .body = "the job began without --http\n"})));
    return true;
  }
  asked_(*asked, [back = std::weak_ptr<net::Connection>(line)](PageAnswered answer) {
    // Who has asked may be gone, or look on elsewhere.
    if (const auto there = back.lock()) there->send(to_frame(ToOnlooker(std::move(answer))));
  });
  return true;
}

void Onlookers::show_life(const std::vector<std::string>& coordinators) {
  say(LeaderNews{static_cast<std::uint32_t>(others_after.count()), coordinators});
}

void Onlookers::over(int code) { say(JobOver{static_cast<std::uint32_t>(code)}); }

void Onlookers::leave() {
  for (const Door::Line& line : lines_) line->close();
  lines_.clear();
}

void Onlookers::say(const ToOnlooker& message) {
  for (const Door::Line& line : lines_) line->send(to_frame(message));
}

void Onlookers::lost(const net::Connection* line) {
  std::erase_if(lines_, [line](const Door::Line& one) { return one.get() == line; });
}

}  // namespace piracema::cluster
