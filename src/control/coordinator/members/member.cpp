#include "control/coordinator/members/member.h"

#include <utility>

#include "base/ensure.h"

namespace piracema::cluster {

void Member::start() {
  ENSURE(state_ == State::absent);
  state_ = State::starting;
  due_.reset();
}

void Member::detach() {
  ENSURE(state_ == State::absent);
  state_ = State::detached;
  due_.reset();
}

void Member::join(std::string address) {
  ENSURE(state_ == State::starting || state_ == State::detached);
  // One that is detached says yet what it has.
  if (state_ == State::starting) state_ = State::joined;
  address_ = std::move(address);
  failed_starts_ = 0;
}

void Member::attach() {
  ENSURE(state_ == State::detached);
  state_ = State::joined;
}

void Member::end(Time given_up_at, LossCause cause) {
  ENSURE(state_ != State::absent && state_ != State::ending);
  if (state_ == State::starting) failed_starts_ += 1;
  state_ = State::ending;
  cause_ = cause;
  due_ = given_up_at;
  ready_ = false;
}

void Member::leave(Time next_at) {
  ENSURE(state_ == State::ending);
  state_ = State::absent;
  due_ = next_at;
}

}  // namespace piracema::cluster
