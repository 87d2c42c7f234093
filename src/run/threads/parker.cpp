#include "run/threads/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace piracema::runtime {

namespace {

static_assert(sizeof(std::atomic<int>) == sizeof(int));  // A futex is the int itself.

void futex_wait(std::atomic<int>& word, int expected, std::optional<Time> longest) {
  timespec time{};
  if (longest) {
    time.tv_sec = static_cast<time_t>(longest->count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(longest->count() % 1'000'000'000);
  }
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, longest ? &time : nullptr, nullptr, 0);
}

}  // namespace

void Parker::wake() {
  const int before = state_.exchange(woken);
  if (before == asleep) ::syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  if (before == parked) go_on_();
}

void Parker::sleep(std::optional<Time> longest) {
  int expected = idle;
  const auto is_woken = [this] { return state_.load(std::memory_order_relaxed) == woken; };
  if (!spin_.until(is_woken) && state_.compare_exchange_strong(expected, asleep)) {
    futex_wait(state_, asleep, longest);
    spin_.slept();
  }
  // Woken, timed out or a false alarm: the caller looks for itself.
  resume();
}

bool Parker::park() {
  int expected = idle;
  if (state_.compare_exchange_strong(expected, parked)) return true;
  resume();
  return false;
}

// An exchange, so that what was there before the last `wake` is seen by who looks now.
void Parker::resume() { state_.exchange(idle); }

bool Parker::unpark() {
  int expected = parked;
  return state_.compare_exchange_strong(expected, woken);
}

}  // namespace piracema::runtime
