#include "cluster/driver_crew.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
// A process that dies closes its connection and ends within microseconds of each other; the one
// is told with the other, unless it does not follow (a process that closed its connection only,
// or left a child that holds it).
constexpr std::chrono::milliseconds both_within{20};
// mpirun takes a second to end its ranks.
constexpr std::chrono::seconds world_ends_within{3};
}  // namespace

Crew::~Crew() {
  for (auto& [id, member] : members_) {
    if (member.timer) poller_.cancel(*member.timer);
    if (member.process && member.process->handle() >= 0) poller_.forget(member.process->handle());
    if (member.line) member.line->close();
  }
}

Result<Done> Crew::start(Id id, Launch launch) {
  auto at_work = AtWork::create();
  if (!at_work) return at_work.error();
  launch.environment.push_back(concat("PIRACEMA_SLOT=", id.first));
  launch.environment.push_back(concat("PIRACEMA_INCARNATION=", id.second));
  launch.environment.push_back(concat("PIRACEMA_AT_WORK_FD=", at_work->fd()));
  launch.inherited.push_back(at_work->fd());
  auto process = Process::start(launch);
  if (!process) return process.error();

  auto shared = std::make_shared<Process>(*std::move(process));
  const auto [place, added] =
      members_.try_emplace(id, Member{.process = shared, .at_work = *std::move(at_work)});
  ENSURE(added);  // The coordinator numbers the incarnations of a slot.
  place->second.heard_at = now();
  watch(shared);
  return Done{};
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
  auto shared = std::make_shared<Process>(*std::move(process));
  for (const Id& id : ids) {
    const auto [place, added] =
        members_.try_emplace(id, Member{.process = shared, .in_world = true});
    ENSURE(added);
    place->second.heard_at = now();
  }
  watch(shared);
  return Done{};
}

void Crew::start_remote(Id id, std::size_t host) {
  const auto [place, added] = members_.try_emplace(id);
  ENSURE(added);
  place->second.host = host;
  place->second.heard_at = now();
}

void Crew::ended_remotely(Id id, const Exit& exit,
                          std::vector<std::pair<ReplicaId, std::uint64_t>> at_work) {
  const auto found = members_.find(id);
  // An agent may name any process; and one that is lost may speak again.
  if (found == members_.end() || !found->second.host || found->second.exit) return;
  found->second.exit = exit;
  found->second.was_at_work = std::move(at_work);
  settle(id);
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

void Crew::watch(const std::shared_ptr<Process>& process) {
  if (process->handle() < 0) return;
  poller_.watch(process->handle(), EPOLLIN, [this, process](std::uint32_t) { reap(process); });
}

void Crew::kill(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end() || !is_ours(found->second)) return;
  if (found->second.in_world) {
    kill_world(found->second.process);
  } else {
    kill(id, found->second);
  }
}

void Crew::kill(Id id, const Member& member) {
  if (member.host) {
    events_.kill_remote(*member.host, id);
  } else if (member.process) {
    member.process->signal(SIGKILL);
  }
}

// mpirun ends its ranks when it is asked to end, but not when it is killed: those that it leaves
// behind end with their connection to us.
void Crew::kill_world(const std::shared_ptr<Process>& process) {
  process->signal(SIGTERM);
  for (auto& [id, member] : members_) {
    if (member.process != process || !member.line) continue;
    member.line->close();
    member.line.reset();
  }
  poller_.at(now() + world_ends_within, [weak = std::weak_ptr(process)] {
    if (const auto still = weak.lock()) still->signal(SIGKILL);
  });
}

void Crew::kill_all() {
  for (const auto& [id, member] : members_) {
    if (!member.in_world) kill(id, member);
  }
  for (const auto& [id, member] : members_) {
    if (!member.in_world) continue;
    kill_world(member.process);
    break;  // There is one at a time, and it takes all.
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

bool Crew::is_held_up(const Member& member) const {
  if (member.host) return member.condition.held_up;
  if (!member.process || member.in_world) return false;  // It is not the process that would beat.
  return member.process->is_held_up();
}

bool Crew::is_stopped(const Member& member) const {
  return member.host ? member.condition.stopped : member.process && member.process->is_stopped();
}

void Crew::kill_stopped_starters(Time now, Time silent) {
  for (const auto& [id, member] : members_) {
    if (member.joined || member.exit || now - member.heard_at < silent) continue;
    if (is_stopped(member)) kill(id, member);
  }
}

bool Crew::expects(Id id) const {
  const auto found = members_.find(id);
  return found != members_.end() && !found->second.joined;
}

void Crew::join(Id id, std::shared_ptr<net::Connection> line) {
  Member& member = members_.at(id);
  member.line = std::move(line);
  member.joined = true;
}

void Crew::line_lost(Id id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.line_lost = true;
  found->second.line.reset();
  settle(id);
}

void Crew::reap_all() {
  std::vector<std::shared_ptr<Process>> all;
  for (const auto& [id, member] : members_) {
    if (member.process && !member.exit) all.push_back(member.process);
  }
  for (const auto& process : all) reap(process);
}

std::optional<Crew::Id> Crew::newest(Slot slot) const {
  std::optional<Id> newest;
  for (const auto& [id, member] : members_) {
    if (id.first == slot) newest = id;
  }
  return newest;
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
                        .at_work = member.at_work ? member.at_work->busy() : member.was_at_work},
                 *member.exit);
}

}  // namespace piracema::cluster
