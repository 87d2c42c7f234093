#include "ckpt/keeper/preparation.h"

#include <utility>

namespace piracema::ckpt {

Time Preparation::most() const {
  return settings_.command.value_or(Time{}) + settings_.moment.value_or(Time{});
}

std::optional<Time> Preparation::until() const {
  if (!is_under_way()) return std::nullopt;
  return step_ == Step::command || step_ == Step::moment ? until_ : Time{};
}

Preparation::Next Preparation::look(Time now, bool patient) {
  if (step_ == Step::none && settings_.command) {
    step_ = Step::command;
    until_ = now + *settings_.command + report_of_command;
    return Next::run_command;
  }
  if (step_ == Step::command && now < until_) return Next::wait;
  if (step_ < Step::moment && settings_.moment && patient) {
    step_ = Step::moment;
    until_ = now + *settings_.moment;
    asked_ = true;
    return Next::ask_for_moment;
  }
  if (step_ == Step::moment && now < until_ && patient) return Next::wait;
  step_ = Step::ready;
  return Next::save;
}

void Preparation::command_ended() {
  if (step_ == Step::command) step_ = Step::commanded;
}

void Preparation::moment_said() {
  if (step_ != Step::moment) return;
  said_ = true;
  step_ = Step::ready;
}

bool Preparation::leaves_program_out() {
  step_ = Step::ready;
  // An image that is tried again is begun again.
  return !std::exchange(left_out_, asked_ && !said_) && left_out_;
}

void Preparation::end() {
  step_ = Step::none;
  asked_ = said_ = left_out_ = false;
}

}  // namespace piracema::ckpt
