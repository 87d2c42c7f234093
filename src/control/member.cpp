#include "control/member.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

void Member::start(std::optional<Time> join_by) {
  ENSURE(state_ == State::absent);
  state_ = State::starting;
  deadline_ = join_by;
  fresh_ = true;
  forgiven_ = false;
  progress_ = 0;
}

void Member::join(std::string address, std::optional<Time> heard_by) {
  ENSURE(state_ == State::starting);
  state_ = State::joined;
  address_ = std::move(address);
  failed_starts_ = 0;
  heard(heard_by);
}

void Member::heard(std::optional<Time> heard_by) {
  ENSURE(state_ == State::joined);
  deadline_ = heard_by;
  forgiven_ = false;
}

void Member::deploy(Time now, std::optional<Time> within) {
  ENSURE(state_ == State::joined);
  ready_ = false;
  busy_ = true;
  progressed_at_ = now;
  ready_by_.reset();
  if (within) ready_by_ = now + *within;
}

void Member::restores(Time now, std::uint64_t progress, bool busy, Time within) {
  if (!ready_by_) return;
  busy_ = busy;
  if (std::exchange(progress_, progress) != progress) progressed_at_ = now;
  ready_by_ = progressed_at_ + within;
}

void Member::ready() {
  ready_ = true;
  fresh_ = false;
  ready_by_.reset();
}

void Member::end(Time given_up_at, Fault fault) {
  ENSURE(state_ == State::starting || state_ == State::joined);
  if (state_ == State::starting) failed_starts_ += 1;
  state_ = State::ending;
  fault_ = fault;
  deadline_ = given_up_at;
  ready_ = false;
  ready_by_.reset();
}

void Member::leave(Time next_at, bool gone) {
  ENSURE(state_ == State::ending);
  if (!gone) may_live_.push_back(incarnation_);
  state_ = State::absent;
  deadline_ = next_at;
  incarnation_ += 1;
}

void Member::gone(std::uint32_t incarnation) {
  may_live_.erase(std::remove(may_live_.begin(), may_live_.end(), incarnation), may_live_.end());
}

void Member::forgive(Time lateness) {
  if (forgiven_ || state_ == State::absent || state_ == State::ending) return;
  forgiven_ = true;
  if (deadline_) *deadline_ += lateness;
  if (ready_by_) *ready_by_ += lateness;
  progressed_at_ += lateness;
}

}  // namespace piracema::cluster
