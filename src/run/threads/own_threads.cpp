#include "run/threads/own_threads.h"

#include <sched.h>

#include <optional>

#include "base/ensure.h"

namespace piracema::runtime {

void OwnThreads::start(Actor& actor) {
  std::optional<std::uint32_t> core;
  if (!cores_.empty()) core = cores_[started_ % cores_.size()];
  if (lead_ != nullptr && started_ == 0) {
    guest_ = &actor;
    lead_->invite(actor.parker());
  }
  started_ += 1;
  threads_[&actor] = std::thread([this, &actor, core] {
    if (core) keep_to_core(*core);
    live(actor);
  });
}

void OwnThreads::live(Actor& actor) {
  while (true) {
    const Actor::Turn turn = actor.turn();
    if (turn.next == Actor::Next::ended) return;
    if (turn.next == Actor::Next::rest) {
      rest(actor, turn.longest);
    } else if (guest_ == &actor) {
      lead_->visit();
    }
  }
}

void OwnThreads::rest(Actor& actor, std::optional<Time> longest) {
  if (guest_ == &actor && lead_->wait(longest)) return;
  actor.parker().sleep(longest);
}

void OwnThreads::join(Actor& actor) {
  const auto thread = threads_.find(&actor);
  ENSURE(thread != threads_.end());
  thread->second.join();
  threads_.erase(thread);
}

void keep_to_core(std::uint32_t core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= CPU_SETSIZE) return;
  CPU_SET(core, &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace piracema::runtime
