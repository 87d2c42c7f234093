// What happens to the processes of a job, and what they say.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/loop.h"
#include "cluster/driver/program_check.h"

namespace piracema::cluster {

namespace {

constexpr int garbled_max = 3;

Result<ReplicaId> find_replica(const Job& job, const KillOrder& order) {
  std::string nodes;
  for (const NodeShape& node : job.shape.nodes) {
    nodes += concat(nodes.empty() ? "" : ", ", node.name, " (", node.replicas, ")");
  }
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    const flow::ReplicaPlan& plan = job.plan.replicas[replica];
    if (job.shape.nodes[plan.node].name == order.node && plan.index == order.replica) {
      return replica;
    }
  }
  return Error{Errc::config, concat("kill: there is no replica ", order.replica, " of '",
                                    order.node, "'; nodes and their replicas are ", nodes)};
}

}  // namespace

Result<Done> DriverLoop::expected(const runtime::Hello& hello) {
  if (!crew_.expects({hello.slot, hello.incarnation})) {
    if (!still_coordinates()) return Error{Errc::lost, "another one coordinates the job"};
    return Error{Errc::refused, concat("nobody is expected as incarnation ", hello.incarnation,
                                       " of worker ", hello.slot)};
  }
  return Done{};
}

net::Connection::Events DriverLoop::joined(const runtime::Hello& hello, Door::Line line) {
  const Crew::Id id{hello.slot, hello.incarnation};
  if (recorder_) {
    const auto host = crew_.host_of(id);
    recorder_->joined(since_start(), hello.slot, hello.incarnation, hello.pid,
                      host ? options_.hosts[*host].name : "this host");
  }
  crew_.join(id, std::move(line), static_cast<pid_t>(hello.pid));
  crew_.heard(id, time());
  if (world_) world_->joined();
  Replicas replicas;
  if (!std::exchange(anybody_joined_, true) && hello.hindrance.empty()) {
    replicas = first_joined(hello);
  }
  tell(Joined{id.first, id.second, hello.address, hello.graph, hello.costs, hello.states.layouts,
              hello.hindrance, std::move(replicas)});
  // From now on it notices when this coordinator falls silent.
  if (options_.leading != nullptr) crew_.show_life(succession_->doors());
  if (const auto& job = coordinator_->job(); job && !planned_) plan(*job);
  return {.received = [this, id](wire::Frame frame) { heard(id, frame); },
          .lost = [this, id](const Error&) { crew_.line_lost(id); }};
}

Replicas DriverLoop::first_joined(const runtime::Hello& hello) {
  Replicas kept;
  if (options_.keep_replicas) kept = kept_replicas(beginning_, hello.graph);
  const auto accepted = [&]() -> Result<Done> {
    if (beginning_.store) {
      const std::string graph = with_replicas(hello.graph, kept);
      auto ours = accept_job(beginning_, graph, hello.states, options_.may_differ);
      if (!ours) return ours;
    }
    if (!beginning_.store && !options_.strict) return Done{};
    return accept_unsaved(hello.unsaved, options_.strict);
  }();
  if (!accepted) {
    finish(accepted.error());
    return {};
  }
  for (const Crew::Id& id : std::exchange(waiting_, {})) hosts_->start(id);
  return kept;
}

void DriverLoop::plan(const Job& job) {
  planned_ = true;
  tally_.plan(job);
  if (recorder_) recorder_->plan(job);
  for (const KillOrder& order : options_.kills) {
    if (auto found = find_replica(job, order); !found) return finish(found.error());
  }
  observer_.planned(job, tally_.report);
}

// It has our secret and our version, but not our language. Once may be a broken machine, and is a
// loss as any other; again and again it is another program, and replacing it would never end.
void DriverLoop::garbled(Crew::Id id, const std::string& why) {
  garbled_ += 1;
  if (garbled_ == garbled_max) {
    return finish(Error{Errc::config, concat("worker ", id.first,
                                             " says what no worker of this "
                                             "version says, ",
                                             garbled_max, " times now: ", why)});
  }
  log(Level::warning, concat("worker ", id.first, ": ", why));
  crew_.kill(id);
}

void DriverLoop::heard(Crew::Id id, const wire::Frame& frame) {
  auto message = runtime::from_worker(frame);
  if (!message) return garbled(id, message.error().message);
  crew_.heard(id, time());
  tell(Said{id.first, id.second, *message});
  // What a process of old says is not of the one that has its slot now.
  if (recorder_ && crew_.newest(id.first) == id)
    recorder_->heard(since_start(), id.first, *message);
  const auto* heartbeat = std::get_if<runtime::Heartbeat>(&*message);
  if (heartbeat == nullptr || !planned_) return;
  tally_.heard(id.first, *heartbeat, emitted_at_restore(*coordinator_));
  if (coordinator_->phase() == Phase::running) inject_kills();
}

void DriverLoop::inject_kills() {
  for (KillReport& kill : tally_.report.kills) {
    if (kill.killed_at || tally_.report.read < kill.order.at) continue;
    const Job& job = *coordinator_->job();
    const auto found = find_replica(job, kill.order);
    if (!found) continue;  // The job was scaled.
    const ReplicaId replica = *found;
    kill.slot = job.placement[replica];
    kill.killed_at = since_start();
    if (const auto id = crew_.newest(kill.slot)) crew_.kill(*id);
    observer_.killed(since_start(), kill, job.name(replica));
  }
}

void DriverLoop::exited(const Exited& event, const Exit& exit) {
  tally_.report.cpu += exit.cpu;
  tally_.report.peak_bytes = std::max(tally_.report.peak_bytes, exit.peak_bytes);
  // Before anybody has joined, too: whoever sends signals, or a host that is lost, says nothing of
  // the program.
  if (anybody_joined_ || exit.by_signal || exit.from_outside) {
    join_by_ = time() + options_.settings.join_timeout;
    tell(event);
    if (world_) world_->start_when_complete();
    return;
  }
  // The program has said why it takes its arguments or settings for wrong: its code is ours.
  const bool refused = exit.status == 2 || exit.status == 3;
  finish(refused ? *exit.status : 3,
         concat("'", options_.command.front(), "' left without joining (", exit.how, ")",
                refused ? "" : ": is it a Piracema program?"));
}

void DriverLoop::signalled(int number) {
  if (number == SIGCHLD) {
    if (hosts_) hosts_->reap_all();
    if (world_) world_->reap_all();
    return crew_.reap_all();
  }
  const auto meaning = stop_signals_.take(now());
  if (meaning == StopSignals::Meaning::nothing_new) return;
  if (meaning == StopSignals::Meaning::end_at_once || !anybody_joined_) {
    return finish(128 + number, "ended at once by a signal");
  }
  stop_signal_ = number;
  stop();
}

void DriverLoop::user_asked(UserRequest request, observe::Board::Answer answer) {
  const std::uint64_t id = ++asked_;
  const auto* scale = std::get_if<ScaleRequest>(&request);
  if (options_.transport == "mpi" && scale != nullptr && scale->slots) {
    return answer({.id = id, .why = "one mpirun has started all workers, and no others can come"});
  }
  if (finish_) return answer({.id = id, .why = "the job is over"});
  answers_[id] = std::move(answer);
  tell(UserAsked{id, std::move(request)});
}

void DriverLoop::stop() {
  observer_.stopping(since_start());
  tell(StopRequested{});
}

}  // namespace piracema::cluster
