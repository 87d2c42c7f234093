#include "forecast/window/lent_machine.h"

#include <utility>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr Time look_every = std::chrono::seconds(1);

}  // namespace

LentMachine::LentMachine(net::Poller& poller, Settings settings,
                         std::function<std::vector<pid_t>()> ours,
                         std::function<void(const Seen&)> told)
    : poller_(poller),
      settings_(std::move(settings)),
      ours_(std::move(ours)),
      told_(std::move(told)),
      lending_(settings_.lending),
      users_(poller_, settings_.users, [this](bool is_there) {
        lending_.user(now(), is_there);
        if (!is_looking_) tell();
      }) {}

LentMachine::~LentMachine() {
  if (timer_) poller_.cancel(*timer_);
}

void LentMachine::look() {
  timer_ = poller_.at(now() + look_every, [this] { look(); });
  if (settings_.calendar) lending_.window(settings_.calendar->closes());
  is_looking_ = true;
  users_.look(ours_());
  is_looking_ = false;
  tell();
}

void LentMachine::tell() {
  const Time at = now();
  Seen seen{.is_lent = lending_.is_lent(at),
            .gone_by = lending_.gone_by(at),
            .suspended_until = lending_.suspended_until(),
            .keeps = lending_.keeps(at)};
  if (!seen.is_lent) seen.why = why_not(at);
  if (lending_.closes(at)) {
    const auto window = settings_.calendar->window_at(at);
    if (window) seen.length = window->closes - window->opens;
  }
  // What stands still has no more time than that.
  if (seen.suspended_until) seen.length = settings_.lending.grace;
  told_(seen);
}

std::string LentMachine::why_not(Time at) const {
  if (lending_.user_is_there()) return "its user is there";
  if (const auto idle = lending_.idle_at(); idle && (*idle > at)) {
    return concat("as it is not idle before ", wall_text(*idle, "%a %H:%M:%S"));
  }
  const auto window = settings_.calendar ? settings_.calendar->window_at(at) : std::nullopt;
  return window ? concat("and will be at ", wall_text(window->opens, "%a %H:%M:%S"))
                : "and has no window";
}

}  // namespace piracema::ckpt
