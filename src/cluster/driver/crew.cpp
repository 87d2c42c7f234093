#include "cluster/driver/crew.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {
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
  if (members_.contains(id)) return Done{};  // The coordinator numbers the incarnations of a slot.
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
  ENSURE(added);
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

void Crew::expect(Id id) { members_[id].heard_at = now(); }

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

void Crew::show_life() {
  const wire::Frame frame = runtime::to_frame(
      runtime::ToWorker(runtime::StillHere{static_cast<std::uint32_t>(others_after.count())}));
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

std::optional<Crew::Id> Crew::newest(Slot slot) const {
  std::optional<Id> newest;
  for (const auto& [id, member] : members_) {
    if (id.first == slot) newest = id;
  }
  return newest;
}

}  // namespace piracema::cluster
