#include "run/threads/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "run/threads/own_threads.h"

namespace piracema::runtime {

namespace {

// An actor that has more to do goes on for about so long before another one gets its turn.
constexpr Time turns_for = std::chrono::milliseconds(1);

// Of the thread that calls, in the pool that it belongs to.
thread_local Seat* own_seat = nullptr;

}  // namespace

ThreadPool::ThreadPool(std::size_t permits, std::vector<std::uint32_t> cores)
    : cores_(std::move(cores)), queue_(permits) {
  ENSURE(permits >= 1);
}

ThreadPool::~ThreadPool() {
  {
    const Lock lock(mutex_);
    over_ = true;
  }
  may_run_.notify_all();
  may_look_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// ---- the owner ------------------------------------------------------------------------------

void ThreadPool::start(Actor& actor) {
  const auto put = [this, &actor] {
    const Lock lock(mutex_);
    queue_.put(&actor);
    offer();
  };
  actor.parker().when_parked(put);
  put();
}

void ThreadPool::join(Actor& actor) {
  Lock lock(mutex_);
  has_ended_.wait(lock, [&] { return ended_.contains(&actor); });
  ended_.erase(&actor);
}

std::size_t ThreadPool::thread_count() const {
  const Lock lock(mutex_);
  return threads_.size();
}

// ---- within a turn --------------------------------------------------------------------------

// The permit goes to others while it sleeps: they may be those that it waits for.
void ThreadPool::wait(Actor& actor, std::optional<Time> longest) {
  Seat& seat = *own_seat;
  if (!actor.parker().is_woken()) {
    Lock lock(mutex_);
    if (std::exchange(seat.has_permit, false)) queue_.give_back();
    offer();
  }
  actor.parker().sleep(longest);
  Lock lock(mutex_);
  if (seat.has_permit) return;
  queue_.want_back();
  offer();
  may_come_back_.wait(lock, [this] { return queue_.come_back(); });
  seat.has_permit = true;
  offer();
}

// ---- one thread of it -----------------------------------------------------------------------

void ThreadPool::live(Seat& seat) {
  own_seat = &seat;
  seat.open();
  Lock lock(mutex_);
  arriving_ -= 1;
  while (!over_) {
    fire_timers();
    const auto actor = queue_.take();
    seat.has_permit = actor.has_value();
    offer(!actor);
    if (!actor) {
      rest(lock);
      continue;
    }
    lock.unlock();
    take_turns(seat, **actor);
    lock.lock();
    if (std::exchange(seat.has_permit, false)) queue_.give_back();
  }
}

// Once it is parked, put back or has ended, `actor` is not this thread's any more.
void ThreadPool::take_turns(Seat& seat, Actor& actor) {
  actor.parker().resume();
  const Time until = now() + turns_for;
  while (true) {
    seat.turns.fetch_add(1, std::memory_order_relaxed);
    const Actor::Turn turn = actor.turn();
    if (turn.next == Actor::Next::ended) {
      const Lock lock(mutex_);
      std::erase_if(timers_, [&](const Timer& timer) { return timer.actor == &actor; });
      ended_.insert(&actor);
      return has_ended_.notify_all();
    }
    if (turn.next == Actor::Next::rest) {
      if (turn.longest) {
        const Lock lock(mutex_);
        set_timer(actor, now() + *turn.longest);
      }
      if (actor.parker().park()) return;
    }
    if (others_wait_.load(std::memory_order_relaxed) && now() >= until) {
      const Lock lock(mutex_);
      return queue_.put(&actor);
    }
  }
}

void ThreadPool::rest(Lock& lock) {
  resting_ += 1;
  if (somebody_looks_on_) {
    may_run_.wait(lock);
  } else {
    somebody_looks_on_ = true;
    look_on(lock);
    somebody_looks_on_ = false;
  }
  resting_ -= 1;
}

// Sleeps until a timer is due, or a look at those that hold permits.
void ThreadPool::look_on(Lock& lock) {
  looks_until_ = look_at_;
  for (const Timer& timer : timers_) {
    looks_until_ = std::min(looks_until_.value_or(timer.due), timer.due);
  }
  if (looks_until_) {
    may_look_.wait_for(lock, *looks_until_ - now());
  } else {
    may_look_.wait(lock);
  }
  if (!look_at_ || now() < *look_at_) return;
  take_from_stuck();
  look_at_.reset();
}

// ---- with the lock --------------------------------------------------------------------------

// Finds somebody for what there is to do. Each who takes something calls it again, so that it need
// not find more than one. `will_rest`: the caller can look on.
void ThreadPool::offer(bool will_rest) {
  if (queue_.can_come_back()) may_come_back_.notify_one();
  if (queue_.can_take()) wake_one();
  others_wait_.store(queue_.others_wait(), std::memory_order_relaxed);
  if (queue_.others_wait() && !look_at_) {
    look_at_ = now() + Seat::stuck_after;
    if (somebody_looks_on_) may_look_.notify_one();
  }
  // Those that take turns may be long in coming back.
  const bool is_looked_on = somebody_looks_on_ || will_rest;
  if ((look_at_ || !timers_.empty()) && !is_looked_on) wake_one();
}

void ThreadPool::wake_one() {
  if (resting_ > (somebody_looks_on_ ? 1 : 0)) {
    may_run_.notify_one();
  } else if (resting_ != 0) {
    may_look_.notify_one();
  } else if (arriving_ == 0) {
    add_thread();
  }
}

void ThreadPool::set_timer(Actor& actor, Time due) {
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [&](const Timer& timer) { return timer.actor == &actor; });
  if (found == timers_.end()) {
    timers_.push_back({due, &actor});
  } else {
    found->due = due;
  }
  if (!somebody_looks_on_) {
    offer();
  } else if (!looks_until_ || due < *looks_until_) {
    may_look_.notify_one();
  }
}

// An actor that was woken meanwhile needs its timer no more.
void ThreadPool::fire_timers() {
  if (timers_.empty()) return;
  const Time at = now();
  std::erase_if(timers_, [&](const Timer& timer) {
    if (timer.due > at) return false;
    if (timer.actor->parker().unpark()) queue_.put(timer.actor);
    return true;
  });
}

// What waits for the world keeps no core busy, and what it waits for may be in the queue.
void ThreadPool::take_from_stuck() {
  const Time at = now();
  for (const auto& seat : seats_) {
    if (!seat->has_permit || !seat->is_stuck(at)) continue;
    seat->has_permit = false;
    queue_.give_back();
    return;
  }
}

void ThreadPool::add_thread() {
  arriving_ += 1;
  seats_.push_back(std::make_unique<Seat>());
  Seat& seat = *seats_.back();
  std::optional<std::uint32_t> core;
  if (!cores_.empty()) core = cores_[threads_.size() % cores_.size()];
  threads_.emplace_back([this, &seat, core] {
    if (core) keep_to_core(*core);
    live(seat);
  });
}

}  // namespace piracema::runtime
