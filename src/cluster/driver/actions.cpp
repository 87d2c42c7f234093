// What the coordinator wants done.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "cluster/driver/loop.h"

namespace piracema::cluster {

// The first process starts alone: a program that cannot run says so once, not N times.
void DriverLoop::act(const Spawn& spawn) {
  const Crew::Id id{spawn.slot, spawn.incarnation};
  options_.settings.slots = coordinator_->metadata().slots_wanted();
  if (world_) return world_->want(id);
  hosts_->give_hosts();
  if (!anybody_joined_ && crew_.size() != 0) {
    waiting_.push_back(id);
  } else {
    hosts_->start(id);
  }
}

// Told later, as an event of its own: the coordinator is in the middle of a step.
void DriverLoop::never_ran(Crew::Id id, std::string why) {
  poller_.post([this, id, why = std::move(why)] {
    tell(Exited{.slot = id.first, .incarnation = id.second, .by = why});
  });
}

void DriverLoop::act(const Kill& kill) {
  const Crew::Id id{kill.slot, kill.incarnation};
  const bool waited = std::erase(waiting_, id) != 0 || (hosts_ && hosts_->waits_no_more(id)) ||
                      (world_ && world_->want_no_more(id));
  if (waited) {
    never_ran(id, "it was never started");
  }
  if (!options_.cannot_end_processes) crew_.kill(id);
}

void DriverLoop::act(const Send& send) { crew_.send({send.slot, send.incarnation}, send.message); }

void DriverLoop::act(CommitSnapshot& commit) { store_thread_->act(std::move(commit)); }

void DriverLoop::act(const DropSnapshot& drop) { store_thread_->act(drop); }

void DriverLoop::act(const FindSnapshot& wanted) { store_thread_->act(wanted); }

void DriverLoop::act(const NameSnapshot& wanted) { store_thread_->act(wanted); }

void DriverLoop::act(const Tell& what) {
  const Time at = since_start();
  tally_.noted(at, what.note);
  if (recorder_) recorder_->noted(at, what.note);
  // What has just happened is shown at the next look.
  next_show_ = start_;
  observer_.noted(at, what.note);
}

// The first action of its step: whatever follows is done after it.
void DriverLoop::act(const Decide& decided) {
  if (!succession_ || succession_->decided(decided.decisions, coordinator_->metadata())) return;
  depose();
}

void DriverLoop::act(const AnswerRequest& answer) {
  if (auto found = answers_.extract(answer.id)) found.mapped()(answer);
}

void DriverLoop::act(const Finish& finished) {
  // The coordinator does not know which signal it was.
  const bool by_sigint = finished.code == 128 + SIGTERM && stop_signal_ == SIGINT;
  finish(by_sigint ? 128 + SIGINT : finished.code, finished.why);
}

}  // namespace piracema::cluster
