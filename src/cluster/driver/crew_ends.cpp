// How a process of a job ends: what is told of it, its connection and the time between them.

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/driver/crew.h"
#include "os/process_state.h"

namespace piracema::cluster {

namespace {
// A process that dies closes its connection and ends within microseconds of each other; the one
// is told with the other, unless it does not follow (a process that closed its connection only,
// or left a child that holds it).
constexpr std::chrono::milliseconds both_within{20};
}  // namespace

void Crew::line_lost(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  Member& member = found->second;
  member.line_lost = true;
  member.line.reset();
  // One that has closed its connection and lives goes on: what it is at now is wanted.
  if (member.host && !member.exit) events_.ask(*member.host, id);
  settle(id);
}

void Crew::reap_all() {
  std::shared_ptr<Process> mpirun;
  for (const auto& [id, member] : members_) {
    if (member.mpirun && !member.exit) mpirun = member.mpirun;
  }
  if (mpirun) reap(mpirun);
}

void Crew::reap(const std::shared_ptr<Process>& mpirun) {
  const int handle = mpirun->handle();
  if (mpirun->pid() == 0) return;
  const auto exit = mpirun->reap();
  if (!exit) return;
  if (handle >= 0) poller_.forget(handle);
  std::vector<Id> ended;
  for (auto& [id, member] : members_) {
    if (member.mpirun != mpirun) continue;
    member.exit = exit;
    // So mpirun says, as a shell does, how a rank ended.
    if (exit->status.value_or(0) > 128) member.exit->by_signal = true;
    // What the process used is told once.
    if (!ended.empty()) member.exit->cpu = {};
    ended.push_back(id);
  }
  for (const Id& id : ended) settle(id);
}

void Crew::settle(Id id) {
  Member& member = members_.at(id);
  const bool nothing_follows = !member.line || member.line_lost;
  if (member.exit && nothing_follows) {
    tell_exit(id);
  } else if (!member.timer && !member.loss_told) {
    member.timer = poller_.at(now() + both_within, [this, id] { time_is_up(id); });
  }
}

void Crew::time_is_up(Id id) {
  Member& member = members_.at(id);
  member.timer.reset();
  if (member.exit) {
    tell_exit(id);
  } else if (is_ending(member)) {
    // Then it is the end that says how; should that not come, heartbeats are missing.
    member.timer = poller_.at(now() + both_within, [this, id] { time_is_up(id); });
  } else {
    member.loss_told = true;
    events_.connection_lost(id);
  }
}

bool Crew::is_ending(const Member& member) const {
  if (member.mpirun) return member.mpirun->pid() == 0 || state_of(member.mpirun->pid()).ending;
  return is_here(member) && state_of(member.pid).ending;
}

void Crew::tell_exit(Id id) {
  const auto node = members_.extract(id);
  const Member& member = node.mapped();
  if (member.timer) poller_.cancel(*member.timer);
  if (member.line) member.line->close();
  events_.exited(Exited{.slot = id.first,
                        .incarnation = id.second,
                        .clean = member.exit->clean,
                        .from_outside = member.exit->from_outside,
                        .by = member.exit->how,
                        .at_work = member.was_at_work.value_or(Items{}),
                        .by_signal = member.exit->by_signal},
                 *member.exit);
}

}  // namespace piracema::cluster
