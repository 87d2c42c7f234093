// How a process of a job ends: its handle, its connection and the time between them.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "cluster/driver/crew.h"

namespace piracema::cluster {

namespace {
// A process that dies closes its connection and ends within microseconds of each other; the one
// is told with the other, unless it does not follow (a process that closed its connection only,
// or left a child that holds it).
constexpr std::chrono::milliseconds both_within{20};

// proc(5), field 9; PF_EXITING of the kernel, which ends a process's connections before it can be
// reaped: on a busy machine some time before.
bool is_ending(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  unsigned long flags = 0;
  for (int i = 3; i < 9; ++i) fields >> field;
  return fields >> flags && (flags & 0x4) != 0;
}
}  // namespace

void Crew::watch(const std::shared_ptr<Process>& process) {
  if (process->handle() < 0) return;
  poller_.watch(process->handle(), EPOLLIN, [this, process](std::uint32_t) { reap(process); });
}

void Crew::line_lost(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.line_lost = true;
  found->second.line.reset();
  // A process that has closed its connection and lives goes on: what it was at then is wanted.
  if (found->second.at_work) found->second.was_at_work = found->second.at_work->busy();
  settle(id);
}

void Crew::reap_all() {
  std::vector<std::shared_ptr<Process>> all;
  for (const auto& [id, member] : members_) {
    if (member.process && !member.exit) all.push_back(member.process);
  }
  for (const auto& process : all) reap(process);
}

void Crew::reap(const std::shared_ptr<Process>& process) {
  const int handle = process->handle();
  if (process->pid() == 0) return;
  const auto exit = process->reap();
  if (!exit) return;
  if (handle >= 0) poller_.forget(handle);
  std::vector<Id> ended;
  for (auto& [id, member] : members_) {
    if (member.process != process) continue;
    member.exit = exit;
    // So mpirun says, as a shell does, how a rank ended.
    if (member.in_world && exit->status.value_or(0) > 128) member.exit->by_signal = true;
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
  } else if (member.process && is_ending(member.process->pid())) {
    // Then it is the end that says how; should that not come, heartbeats are missing.
    member.timer = poller_.at(now() + both_within, [this, id] { time_is_up(id); });
  } else {
    member.loss_told = true;
    events_.connection_lost(id);
  }
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
                        .at_work = member.at_work && !member.line_lost ? member.at_work->busy()
                                                                       : member.was_at_work,
                        .by_signal = member.exit->by_signal},
                 *member.exit);
}

}  // namespace piracema::cluster
