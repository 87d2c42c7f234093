#include "cluster/driver/crew.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"
#include "os/process_state.h"

namespace piracema::cluster {

namespace {
// mpirun takes a second to end its ranks.
constexpr std::chrono::seconds world_ends_within{3};
// A process that dies closes its connection and ends within microseconds of each other; the one
// is told with the other, unless it does not follow (a process that closed its connection only,
// or left a child that holds it).
constexpr std::chrono::milliseconds both_within{20};
}  // namespace

Crew::~Crew() {
  for (auto& [id, member] : members_) {
    if (member.timer) poller_.cancel(*member.timer);
    if (member.mpirun && member.mpirun->handle() >= 0) poller_.forget(member.mpirun->handle());
    if (member.line) member.line->close();
  }
}

bool Crew::start(Id id, std::size_t host) {
  const auto [place, added] = members_.try_emplace(id);
  if (!added) return false;
  place->second.host = host;
  place->second.heard_at = now();
  return true;
}

// A rank finds its own among the incarnations.
Result<Done> Crew::start_world(const std::vector<Id>& ids, Launch launch) {
  std::string incarnations;
  for (const Id& id : ids) {
    incarnations += concat(incarnations.empty() ? "" : ",", id.second);
  }
  launch.environment.push_back(concat("PIRACEMA_INCARNATIONS=", incarnations));
  auto process = Process::start(launch);
  if (!process) return process.error();
  const auto mpirun = std::make_shared<Process>(*std::move(process));
  for (const Id& id : ids) {
    const auto [place, added] = members_.try_emplace(id);
    ENSURE(added);
    place->second.mpirun = mpirun;
    place->second.heard_at = now();
  }
  if (mpirun->handle() >= 0) {
    poller_.watch(mpirun->handle(), EPOLLIN, [this, mpirun](std::uint32_t) { reap(mpirun); });
  }
  return Done{};
}

void Crew::expect(Id id) { members_[id].heard_at = now(); }

void Crew::kill(Id id) {
  const auto found = members_.find(id);
  if (found != members_.end()) kill(id, found->second);
}

void Crew::kill(Id id, const Member& member) {
  if (member.host) {
    events_.kill(*member.host, id);
  } else if (member.mpirun) {
    kill_world(member.mpirun);
  }
}

// mpirun ends its ranks when it is asked to end, but not when it is killed: those that it leaves
// behind end with their connection to us.
void Crew::kill_world(const std::shared_ptr<Process>& mpirun) {
  mpirun->signal(SIGTERM);
  for (auto& [id, member] : members_) {
    if (member.mpirun != mpirun || !member.line) continue;
    member.line->close();
    member.line.reset();
  }
  poller_.at(now() + world_ends_within, [weak = std::weak_ptr(mpirun)] {
    if (const auto still = weak.lock()) still->signal(SIGKILL);
  });
}

void Crew::kill_all() {
  for (const auto& [id, member] : members_) {
    kill(id, member);
    if (member.mpirun) break;  // There is one at a time, and it takes all.
  }
}

void Crew::let_go() {
  std::erase_if(members_, [this](auto& member) {
    if (is_ours(member.second)) return false;
    if (member.second.timer) poller_.cancel(*member.second.timer);
    if (member.second.line) member.second.line->close();
    return true;
  });
}

void Crew::send(Id id, const runtime::ToWorker& message) {
  const auto found = members_.find(id);
  if (found == members_.end() || !found->second.line) return;
  found->second.line->send(runtime::to_frame(message));
}

void Crew::show_life(const std::vector<std::string>& coordinators) {
  const wire::Frame frame = runtime::to_frame(runtime::ToWorker(
      runtime::StillHere{static_cast<std::uint32_t>(others_after.count()), coordinators}));
  for (const auto& [id, member] : members_) {
    if (member.line) member.line->send(frame);
  }
}

void Crew::heard(Id id, Time when) {
  const auto found = members_.find(id);
  if (found != members_.end()) found->second.heard_at = when;
}

std::vector<Crew::Id> Crew::held_up(Time now, Time silent) const {
  std::vector<Id> all;
  for (const auto& [id, member] : members_) {
    const Time since = now - member.heard_at;
    if (!member.joined || member.exit || since < silent || since >= 3 * silent) continue;
    if (is_held_up(member)) all.push_back(id);
  }
  return all;
}

// Of a process of this machine the kernel says it now, of others their agents did a moment ago.
// mpirun is not the process that would beat.
bool Crew::is_held_up(const Member& member) const {
  return is_here(member) ? state_of(member.pid).held_up : member.condition.held_up;
}

void Crew::kill_stopped_starters(Time now, Time silent) {
  for (const auto& [id, member] : members_) {
    if (member.joined || member.exit || now - member.heard_at < silent) continue;
    if (member.condition.stopped) kill(id, member);
  }
}

bool Crew::expects(Id id) const {
  const auto found = members_.find(id);
  return found != members_.end() && !found->second.joined;
}

void Crew::join(Id id, std::shared_ptr<net::Connection> line, pid_t pid) {
  Member& member = members_.at(id);
  member.line = std::move(line);
  member.joined = true;
  member.pid = pid;
}

std::optional<Crew::Id> Crew::newest(Slot slot) const {
  std::optional<Id> newest;
  for (const auto& [id, member] : members_) {
    if (id.first == slot) newest = id;
  }
  return newest;
}

// ---- hosts whose agents have started processes: what they say, and how they are lost
// -------------

bool Crew::found(Id id, std::size_t host) {
  const auto place = members_.find(id);
  if (place == members_.end()) return false;
  place->second.host = host;
  return true;
}

std::vector<Crew::Id> Crew::missing() const {
  std::vector<Id> all;
  for (const auto& [id, member] : members_) {
    if (!is_ours(member) && !member.joined) all.push_back(id);
  }
  return all;
}

void Crew::ended(Id id, const Exit& exit, Items at_work) {
  const auto found = members_.find(id);
  // An agent may name any process; and one that is lost may speak again.
  if (found == members_.end() || !found->second.host || found->second.exit) return;
  found->second.exit = exit;
  if (!found->second.was_at_work) found->second.was_at_work = std::move(at_work);
  settle(id);
}

void Crew::is_at(Id id, Items items) {
  const auto found = members_.find(id);
  if (found == members_.end() || !found->second.line_lost) return;
  found->second.was_at_work = std::move(items);
}

// Those that have joined are told as lost, and not as gone: they may live, and are fenced. One that
// has not is expected no longer, so that it does not matter whether it lives.
void Crew::host_lost(std::size_t host, const std::string& why) {
  std::vector<Id> there;
  for (const auto& [id, member] : members_) {
    if (member.host == host) there.push_back(id);
  }
  for (const Id& id : there) {
    Member& member = members_.at(id);
    if (!member.joined && !member.exit) {
      member.exit = Exit{.from_outside = true, .how = why};
    }
    if (member.exit) {
      tell_exit(id);
      continue;
    }
    const auto node = members_.extract(id);
    if (node.mapped().timer) poller_.cancel(*node.mapped().timer);
    if (node.mapped().line) node.mapped().line->close();
    if (!node.mapped().loss_told) events_.connection_lost(id);
  }
}

void Crew::give_up_starters(std::size_t host, const std::string& why) {
  std::vector<Id> there;
  for (const auto& [id, member] : members_) {
    if (member.host == host && !member.joined) there.push_back(id);
  }
  for (const Id& id : there) {
    Member& member = members_.at(id);
    kill(id, member);  // It is told when the host is heard again.
    if (!member.exit) member.exit = Exit{.from_outside = true, .how = why};
    tell_exit(id);
  }
}

void Crew::conditions(std::size_t host, const std::vector<Condition>& now) {
  for (auto& [id, member] : members_) {
    if (member.host == host) member.condition = {};
  }
  for (const Condition& condition : now) {
    const auto found = members_.find({condition.slot, condition.incarnation});
    if (found != members_.end() && found->second.host == host) found->second.condition = condition;
  }
}

std::size_t Crew::count_on(std::size_t host) const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [&](const auto& one) { return one.second.host == host; }));
}

// ---- how a process ends: what is told of it, its connection and the time between them
// ------------

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
