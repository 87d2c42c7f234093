#include "forecast/window/user_watch.h"

#include <utility>

namespace piracema::ckpt {

UserWatch::UserWatch(net::Poller& poller, Settings settings, std::function<void(bool)> answer)
    : settings_(std::move(settings)), answer_(std::move(answer)), presence_(settings_.presence) {
  if (!settings_.command.empty()) command_.emplace(poller, settings_.command, answer_);
}

void UserWatch::look(const std::vector<pid_t>& ours) {
  if (command_) return command_->look();
  if (settings_.by_input_and_load) answer_(presence_.step(now(), look_at_machine(ours)));
}

}  // namespace piracema::ckpt
