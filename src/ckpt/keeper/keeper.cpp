#include "ckpt/keeper/keeper.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

// Nobody was told why the last dump failed, but it may do now.
constexpr Time retry_after = std::chrono::milliseconds(500);

// What passes (a connection that is being opened, a process that is being born) does so at once as
// a rule: a job is stood still for it often at first, then less, and not for ever.
constexpr Time pause_least = std::chrono::milliseconds(10);
constexpr Time pause_most = std::chrono::milliseconds(200);
constexpr Time passing_for = std::chrono::seconds(2);

// An image that is right is not given up, and with it all that was done since the one before,
// because a restart has failed once.
constexpr int launches_most = 3;

}  // namespace

std::vector<KeeperAction> Keeper::begin(Time now) {
  now_ = saved_at_ = now;
  if (!settings_.windows) open();
  return std::exchange(actions_, {});
}

std::vector<KeeperAction> Keeper::step(Time now, const KeeperEvent& event) {
  ENSURE(now >= now_);
  now_ = now;
  if (state_ == State::over) return {};
  std::visit([this](const auto& e) { on(e); }, event);
  look_at_the_clock();
  stand_still();
  return std::exchange(actions_, {});
}

void Keeper::open() {
  state_ = State::opening;
  still_ = false;
  act(OpenCapsule{});
}

void Keeper::on(const CapsuleReady& event) {
  if (state_ != State::opening) return;
  if (!event.ok) return finish(End::failed, 0, event.why);
  state_ = State::launching;
  act(Launch{attempt_});
}

void Keeper::on(const Launched& event) {
  if (state_ != State::launching) return;
  if (event.ok) {
    state_ = State::running;
    attempt_ = 0;
    failed_launches_ = 0;
    saved_at_ = not_before_ = now_;
    trying_since_.reset();
    command_until_.reset();
    if (event.image && settings_.after_restore) {
      command_until_ = now_ + *settings_.after_restore + report_of_command;
      act(RunCommand{CommandKind::after_restore});
    }
    return;
  }
  failed_launches_ += 1;
  if (event.passing && failed_launches_ < launches_most) {
    return launch_again(event.why + "; trying the same image again");
  }
  if (!event.more) return finish(attempt_ == 0 ? End::failed : End::lost, 0, event.why);
  attempt_ += 1;
  failed_launches_ = 0;
  launch_again(event.why + "; going back to the image before it");
}

// What a failed restart has left behind is not built upon.
void Keeper::launch_again(std::string why) {
  act(Remark{std::move(why)});
  act(KillCapsule{});
  open();
}

// The job's own end counts for more than anything that was wanted of it.
void Keeper::on(const JobEnded& event) {
  if (!in_capsule()) return;
  answer_all(false, "the job has ended");
  finish(End::job_ended, event.status, {});
}

bool Keeper::try_again() {
  if (!trying_since_) {
    trying_since_ = now_;
    pause_ = pause_least;
  }
  if (now_ >= *trying_since_ + passing_for) return false;
  state_ = State::running;
  not_before_ = now_ + pause_;
  pause_ = std::min(2 * pause_, pause_most);
  next_.insert(next_.begin(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  return true;
}

void Keeper::on(const Dumped& event) {
  if (!dumping()) return;
  if (!event.ok && event.passing && try_again()) return;
  trying_since_.reset();
  const std::string text = text_of(event);
  end_preparation(!event.ok);
  if (state_ == State::stopping) return dumped_to_stop(event, text);
  state_ = State::running;
  saved_at_ = now_;
  if (!event.ok) {
    not_before_ = now_ + retry_after;
    if (waiting_.empty()) act(Remark{"not saved: " + event.why});
  }
  answer(waiting_, event.ok, text);
}

void Keeper::dumped_to_stop(const Dumped& event, const std::string& text) {
  state_ = State::running;
  answer(waiting_, event.ok, text);
  if (!event.ok) {
    answer(next_, false, event.why);
    act(Remark{"not stopped, as it was not saved: " + event.why});
    stop_wanted_ = false;
    not_before_ = now_ + retry_after;
  } else if (closes_ && !stop_wanted_) {
    hand_back(true, event.what);
  } else {
    finish(End::stopped, 0, event.what);
  }
}

void Keeper::on(const CapsuleDied& event) {
  // At the close it was the guard, if we were held up until then.
  if (!in_capsule() || (closes_ && now_ >= *give_up_at())) return;
  const std::string why =
      event.why.empty() ? "the job's capsule was killed by somebody" : event.why;
  answer_all(false, why);
  finish(End::failed, 0, why + "; resume goes on from its last image");
}

void Keeper::on(const SaveAsked& event) {
  // Whoever asks while the job is being launched may have seen it run already.
  if (in_capsule()) return next_.push_back(event.caller);
  act(Answer{event.caller, false, "the job does not run now"});
}

void Keeper::on(const StopAsked& event) {
  if (!in_capsule()) return act(Answer{event.caller, false, "the job does not run now"});
  stop_wanted_ = true;
  next_.push_back(event.caller);
  not_before_ = now_;
}

void Keeper::on(const Interrupted&) {
  interrupts_ += 1;
  stop_wanted_ = true;
  not_before_ = now_;
  if (state_ == State::away) return finish(End::stopped, 0, "stopped between two windows");
  if (interrupts_ > 1 && !settings_.patient)
    return finish(End::interrupted, 0, "ended at once, without an image");
}

void Keeper::on(const WindowOpened& event) {
  if (state_ != State::away) return;
  closes_ = event.closes;
  if (now_ < *stop_at()) return open();
  // What is begun in it could not be saved in it.
  closes_.reset();
  const std::string why = "the window is shorter than one checkpoint may take";
  act(HandedBack{false, why});
  if (settings_.once) finish(End::failed, 0, why);
}

void Keeper::on(const LeaveAsked& event) {
  if (in_capsule()) closes_ = closes_ ? std::min(*closes_, event.closes) : event.closes;
}

void Keeper::on(const Forecast& event) { forecast_ = event; }

// An image without it is as right as any, and more than none.
void Keeper::on(const CommandEnded& event) {
  if (!in_capsule()) return;
  if (!event.ok) {
    act(Remark{event.why});
    if (preparation_.is_under_way()) complaint_ = event.why;
  }
  command_until_.reset();
  preparation_.command_ended();
}

void Keeper::on(const MomentSaid&) { preparation_.moment_said(); }

void Keeper::end_preparation(bool failed) {
  if (preparation_.has_asked()) act(AskForMoment{false, failed});
  preparation_.end();
  leaving_ = false;
  complaint_.clear();
}

std::string Keeper::text_of(const Dumped& event) const {
  if (!event.ok) return event.why;
  return complaint_.empty() ? event.what : event.what + "; " + complaint_;
}

void Keeper::dump(bool stop) {
  if (std::exchange(still_, false)) act(Pause{false});
  state_ = stop ? State::stopping : State::saving;
  act(Dump{stop, preparation_.is_moment_said()});
}

std::optional<Time> Keeper::stop_at() const {
  if (!closes_) return std::nullopt;
  return *give_up_at() - forecast_.duration;
}

std::optional<Time> Keeper::save_at() const {
  if (state_ != State::running || !settings_.every || suspended_) return std::nullopt;
  return std::max(saved_at_ + *settings_.every, not_before_);
}

std::optional<Time> Keeper::give_up_at() const {
  if (!closes_) return std::nullopt;
  return *closes_ - std::max(settings_.reserve, forecast_.ending);
}

void Keeper::look_at_the_clock() {
  if (!in_capsule()) return;
  if (closes_ && now_ >= *give_up_at()) {
    // The machine is not ours any longer. The last image is what the job goes on from.
    answer_all(false, "the window has closed");
    return hand_back(false, "not saved in time: it goes on from the image before");
  }
  if (state_ != State::running || now_ < not_before_) return;
  leaving_ = leaving_ || (stop_at() && now_ >= *stop_at() - preparation_.most());
  if (!is_image_due()) return;
  const bool has_time = !stop_at() || now_ < *stop_at();
  if (has_time && !is_prepared()) return;
  if (preparation_.leaves_program_out()) {
    act(Remark{"saved though the program has not said that it is a good moment"});
  }
  waiting_.insert(waiting_.end(), next_.begin(), next_.end());
  next_.clear();
  dump(stop_wanted_ || leaving_);
}

// What stands still has done nothing since the image before.
bool Keeper::is_image_due() const {
  return stop_wanted_ || leaving_ || !next_.empty() || preparation_.is_under_way() ||
         (save_at() && now_ >= *save_at());
}

void Keeper::stand_still() {
  if (state_ != State::running) return;
  const bool has_to_run =
      stop_wanted_ || leaving_ || !next_.empty() || command_until_ || preparation_.is_under_way();
  const bool still = suspended_ && !has_to_run;
  if (std::exchange(still_, still) != still) act(Pause{still});
}

bool Keeper::is_prepared() {
  if (command_until_ && now_ < *command_until_) return false;
  command_until_.reset();
  // Who sends a signal has a deadline that he does not tell.
  const bool patient = !stop_wanted_ || interrupts_ == 0;
  switch (preparation_.look(now_, patient)) {
    case Preparation::Next::wait:
      return false;
    case Preparation::Next::run_command:
      act(RunCommand{CommandKind::before_save});
      return false;
    case Preparation::Next::ask_for_moment:
      act(AskForMoment{true});
      return false;
    case Preparation::Next::save:
      return true;
  }
  return true;
}

void Keeper::hand_back(bool saved, std::string why) {
  act(KillCapsule{});
  act(HandedBack{saved, std::move(why)});
  closes_.reset();
  preparation_.end();
  leaving_ = false;
  still_ = false;
  complaint_.clear();
  state_ = State::away;
  attempt_ = 0;
  failed_launches_ = 0;
  if (settings_.once || !settings_.windows || stop_wanted_)
    finish(End::stopped, 0, "the window has closed");
}

void Keeper::finish(End end, int status, std::string why) {
  if (in_capsule()) act(KillCapsule{});
  state_ = State::over;
  answer_all(end == End::stopped, why.empty() ? "the job has ended" : why);
  act(Finish{end, status, std::move(why)});
}

void Keeper::answer(std::vector<Caller>& callers, bool ok, const std::string& text) {
  for (const Caller caller : std::exchange(callers, {})) act(Answer{caller, ok, text});
}

void Keeper::answer_all(bool ok, const std::string& text) {
  answer(waiting_, ok, text);
  answer(next_, ok, text);
}

std::optional<Time> Keeper::wake() const {
  if (!in_capsule()) return std::nullopt;
  std::optional<Time> due;
  const auto at = [&](Time time) { due = due ? std::min(*due, time) : time; };
  if (closes_) at(*give_up_at());
  if (state_ != State::running) return due;
  const bool is_busy = command_until_ || preparation_.is_under_way();
  if (stop_at()) at(std::max(*stop_at() - (is_busy ? Time{} : preparation_.most()), not_before_));
  if (is_busy) {
    const Time ends =
        std::max(command_until_.value_or(Time{}), preparation_.until().value_or(Time{}));
    at(std::max(ends, not_before_));
    return due;
  }
  if (stop_wanted_ || !next_.empty()) at(not_before_);
  if (save_at()) at(*save_at());
  return due;
}

}  // namespace piracema::ckpt
