#include "cluster/driver/crew.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"
#include "os/process_state.h"

namespace piracema::cluster {

namespace {
// mpirun takes a second to end its ranks.
constexpr std::chrono::seconds world_ends_within{3};
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

}  // namespace piracema::cluster
