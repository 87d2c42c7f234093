#include "coll/mpi/exchange/patience.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

namespace {
/// Ranks that wait for an emulated link must leave the cores to the others.
constexpr unsigned poll_every_us = 100;
constexpr int polls_before_clock = 64;
constexpr std::chrono::seconds strays_every{1};
}  // namespace

void Patience::wait() {
  polls_ += 1;
  if (polls_ % polls_before_clock == 0) {
    const Time time = now();
    if (look_at_ != Time{} && time >= look_at_) exchange_.expect_no_strays();
    if (time >= look_at_) look_at_ = time + strays_every;
  }
  if (exchange_.emulating()) {
    ::usleep(polls_ < 20 ? poll_every_us : 5 * poll_every_us);
  } else if (polls_ > exchange_.waiting().polls_before_yield()) {
    ::sched_yield();
  }
}

}  // namespace piracema::coll::mpi
