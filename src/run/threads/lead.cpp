#include "run/threads/lead.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {

using std::chrono::milliseconds;

constexpr Time away_most = milliseconds(2);
constexpr Time at_once = Time(1);
constexpr Time keeps_least = milliseconds(10), keeps_most = milliseconds(1000);

}  // namespace

Lead::Lead(net::Poller& poller)
    : poller_(poller), alarm_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  if (!alarm_) throw std::system_error(errno, std::generic_category(), "timerfd");
}

// ---- the owner ---------------------------------------------------------------------------------

void Lead::invite(Parker& guest) {
  ENSURE(guest_ == nullptr);
  guest.when_parked([this] { poller_.wake(); });
  guest_ = &guest;
}

void Lead::run() {
  ENSURE(take(Holder::owner));
  while (!stopped_) {
    poller_.run_once(milliseconds(-1));
    // What comes after the stop is for nobody, and for the guest neither.
    if (stopped_) return;
    // Something has come for the guest: it is on its feet, and will be back when that is done.
    if (guest_ != nullptr && !guest_->is_asleep() && now() >= lends_from_) lend();
  }
}

void Lead::lend() {
  left_at_ = now();
  wanted_ = false;
  alarm_is_set_ = false;  // One that was not waited for is set anew.
  give_back();
  do {
    sleep_until_alarm();
  } while (!stopped_ && !guest_is_away());
  take_back();
}

bool Lead::guest_is_away() {
  // Who has the lead sets the alarm when it leaves.
  if (holder_ != Holder::nobody) return false;
  const Time left = left_at_.load() + away_most - now();
  if (left > Time{}) set_alarm(left);
  return left <= Time{};
}

// For longer and longer, while it is always the same.
void Lead::take_back() {
  wanted_ = true;
  poller_.wake();
  while (!take(Holder::owner)) sleep_until_alarm();
  const Time at = now();
  const bool again = at < lends_from_ + 2 * keeps_for_;
  keeps_for_ = again ? std::min(2 * keeps_for_, keeps_most) : keeps_least;
  lends_from_ = at + keeps_for_;
}

void Lead::stop() {
  stopped_ = true;
  wanted_ = true;
  poller_.wake();
  set_alarm(at_once);
}

// ---- the guest ---------------------------------------------------------------------------------

void Lead::visit() {
  if (wanted_ || !take(Holder::guest)) return;
  poller_.run_once(milliseconds(0));
  left_at_ = now();
  give_back();
}

bool Lead::wait(std::optional<Time> longest) {
  if (wanted_ || !take(Holder::guest)) return false;
  if (guest_->park()) {
    const Time until = now() + longest.value_or(Time{});
    while (!guest_->is_woken() && !wanted_) {
      milliseconds most(-1);
      if (longest) most = std::chrono::ceil<milliseconds>(until - now());
      if (longest && most <= milliseconds(0)) break;
      poller_.run_once(most);
    }
    guest_->resume();
  }
  left_at_ = now();
  give_back();
  return true;
}

// ---- both --------------------------------------------------------------------------------------

bool Lead::take(Holder who) {
  Holder nobody = Holder::nobody;
  return holder_.compare_exchange_strong(nobody, who);
}

void Lead::give_back() {
  holder_ = Holder::nobody;
  set_alarm(wanted_ ? at_once : away_most);
}

// One that comes early is no harm, so that it is not set anew each time; but one that is wanted now
// comes now.
void Lead::set_alarm(Time after) {
  if (alarm_is_set_.exchange(true) && after != at_once) return;
  const itimerspec time{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = after.count()}};
  ENSURE(::timerfd_settime(alarm_.get(), 0, &time, nullptr) == 0);
}

void Lead::sleep_until_alarm() {
  std::uint64_t times = 0;
  while (::read(alarm_.get(), &times, sizeof times) < 0) ENSURE(errno == EINTR);
  alarm_is_set_ = false;
}

}  // namespace piracema::runtime
