#include "host/agent_processes.h"

#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "os/process_state.h"

namespace piracema::cluster {

namespace {
std::vector<BusyReplica> busy_replicas(const AtWork& at_work) {
  std::vector<BusyReplica> all;
  for (const auto& [replica, item] : at_work.busy()) all.push_back({replica, item});
  return all;
}
}  // namespace

Result<Done> AgentProcesses::start(const StartProcess& what, const Setup& setup, int output) {
  const Id id{what.slot, what.incarnation};
  if (setup.command.empty() || children_.count(id) != 0) {
    return Error{Errc::refused, "the coordinator says what it should not"};
  }
  auto at_work = AtWork::create();
  if (!at_work) return at_work.error();
  Launch launch{.command = setup.command,
                .environment = setup.environment,
                .inherited = {at_work->fd()},
                .input = setup.own_streams ? STDIN_FILENO : -1,
                .output = setup.own_streams ? -1 : output};
  for (const std::string& variable : what.environment) set_variable(launch.environment, variable);
  set_variable(launch.environment, concat("PIRACEMA_SLOT=", what.slot));
  set_variable(launch.environment, concat("PIRACEMA_INCARNATION=", what.incarnation));
  set_variable(launch.environment, concat("PIRACEMA_AT_WORK_FD=", at_work->fd()));
  auto process = Process::start(launch);
  if (!process) return process.error();
  auto owned = std::make_unique<Process>(*std::move(process));
  if (owned->handle() >= 0) {
    poller_.watch(owned->handle(), EPOLLIN, [this, id](std::uint32_t) { reap(id); });
  }
  children_.emplace(id, Child{std::move(owned), *std::move(at_work)});
  return Done{};
}

void AgentProcesses::kill(const EndProcess& what) {
  const auto found = children_.find({what.slot, what.incarnation});
  if (found != children_.end()) found->second.process->signal(SIGKILL);
}

void AgentProcesses::kill_all() {
  for (const auto& [id, child] : children_) child.process->signal(SIGKILL);
}

std::vector<RunningProcess> AgentProcesses::running() const {
  std::vector<RunningProcess> all;
  for (const auto& [id, child] : children_) all.push_back({id.first, id.second});
  return all;
}

std::vector<Condition> AgentProcesses::conditions() const {
  std::vector<Condition> all;
  for (const auto& [id, child] : children_) {
    const ProcessState state = state_of(child.process->pid());
    if (!state.held_up && !state.stopped) continue;
    all.push_back({id.first, id.second, state.held_up, state.stopped});
  }
  return all;
}

std::optional<AtWorkNow> AgentProcesses::at_work(const AskAtWork& what) const {
  const auto found = children_.find({what.slot, what.incarnation});
  if (found == children_.end()) return std::nullopt;
  return AtWorkNow{what.slot, what.incarnation, busy_replicas(found->second.at_work)};
}

void AgentProcesses::reap_all() {
  std::vector<Id> all;
  for (const auto& [id, child] : children_) all.push_back(id);
  for (const Id& id : all) reap(id);
}

void AgentProcesses::reap(Id id) {
  const auto found = children_.find(id);
  if (found == children_.end()) return;
  Process& process = *found->second.process;
  const int handle = process.handle();
  const auto exit = process.reap();
  if (!exit) return;
  if (handle >= 0) poller_.forget(handle);
  Ended ended{.slot = id.first,
              .incarnation = id.second,
              .clean = exit->clean,
              .from_outside = exit->from_outside,
              .status = {},
              .how = exit->how,
              .cpu_ns = static_cast<std::uint64_t>(exit->cpu.count()),
              .peak_bytes = exit->peak_bytes,
              .at_work = {}};
  if (exit->status) ended.status = static_cast<std::uint32_t>(*exit->status);
  ended.at_work = busy_replicas(found->second.at_work);
  ended_(ended);
  children_.erase(found);
}

}  // namespace piracema::cluster
