#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "wire/frame.h"

/// What a coordinator and its agents say to each other, once a handshake has shown that both are of
/// the job, or on a socket that nobody else has.
namespace piracema::cluster {

// ---- an agent to its coordinator -----------------------------------------------------------

/// One process of a job.
struct RunningProcess {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  auto fields() { return std::tie(slot, incarnation); }
};
/// The first message: which host it is on, by its number in the job, and how many agents were
/// there before.
struct AgentHello {
  std::uint32_t host = 0;
  std::uint32_t attempt = 0;
  /// What an agent whose coordinator was lost has kept for the next one; of what has ended
  /// meanwhile Ended follows.
  std::vector<RunningProcess> running = {};
  auto fields() { return std::tie(host, attempt, running); }
};
/// After Setup: processes may be started here; or why not.
struct AgentReady {
  std::string why_not;
  auto fields() { return std::tie(why_not); }
};
/// The program could not be started.
struct NotStarted {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::string why;
  auto fields() { return std::tie(slot, incarnation, why); }
};
struct BusyReplica {
  ReplicaId replica = 0;
  std::uint64_t item = 0;
  auto fields() { return std::tie(replica, item); }
};
/// A process is gone for certain; its fields are those of `Exit` and `Exited`.
struct Ended {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  bool clean = false;
  bool from_outside = false;
  std::optional<std::uint32_t> status;
  std::string how;
  std::uint64_t cpu_ns = 0, peak_bytes = 0;
  std::vector<BusyReplica> at_work;
  auto fields() {
    return std::tie(slot, incarnation, clean, from_outside, status, how, cpu_ns, peak_bytes,
                    at_work);
  }
};
/// What its processes wrote to standard output.
struct Output {
  std::string text;
  auto fields() { return std::tie(text); }
};
/// Which of its processes are held up or stopped now (ProcessState).
struct Condition {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  bool held_up = false, stopped = false;
  auto fields() { return std::tie(slot, incarnation, held_up, stopped); }
};
/// Sent every heartbeat interval: its absence tells that the host cannot be reached.
struct AgentPulse {
  std::vector<Condition> conditions;
  auto fields() { return std::tie(conditions); }
};
/// The answer to AskAtWork: what the replicas of a process that lives are at.
struct AtWorkNow {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  std::vector<BusyReplica> at_work;
  auto fields() { return std::tie(slot, incarnation, at_work); }
};
/// It was told to leave its host (SIGTERM), which may be gone soon: nothing more is to be started
/// here, and what runs is to go elsewhere. Leave follows.
struct Leaving {
  auto fields() { return std::tie(); }
};
using FromAgent =
    std::variant<AgentHello, AgentReady, NotStarted, Ended, Output, AgentPulse, AtWorkNow, Leaving>;

// ---- the coordinator to an agent -----------------------------------------------------------

/// Once, first: what it will start.
struct Setup {
  /// The program and its arguments.
  std::vector<std::string> command;
  /// "NAME=value", for all processes.
  std::vector<std::string> environment;
  /// Path of a file that the host has to see (DirectoryMark); empty: none.
  std::string mark;
  std::uint32_t heartbeat_ms = 250;
  /// An agent that hears nothing for longer has lost its coordinator, for whose end the connection
  /// would wait long; 0: the connection tells, as both are on one host.
  std::uint32_t patience_ms = 30'000;
  /// How long an agent that has lost its coordinator keeps its processes for the next one, which it
  /// looks for in `coordinator_file`; 0: it ends them and itself at once.
  std::uint32_t keep_ms = 0;
  std::string coordinator_file;
  /// All places where a coordinator of the job may be, for where that file cannot be read; none:
  /// only the one that says this.
  std::vector<std::string> coordinators;
  /// Processes have the agent's own standard input and output, if the coordinator on its host has
  /// started it: they are the command's. Else they read nothing, and what they write goes to the
  /// coordinator.
  bool own_streams = false;
  /// An agent that hears nothing for so long looks whether another one coordinates the job, and
  /// keeps to this one until it has found that; 0: there is one coordinator at a time.
  std::uint32_t others_after_ms = 0;
  auto fields() {
    return std::tie(command, environment, mark, heartbeat_ms, patience_ms, keep_ms,
                    coordinator_file, coordinators, own_streams, others_after_ms);
  }
};
/// Start a process. NotStarted or, some time, Ended follows.
struct StartProcess {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  /// Put over those of all.
  std::vector<std::string> environment;
  auto fields() { return std::tie(slot, incarnation, environment); }
};
/// SIGKILL, if it is still there.
struct EndProcess {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  auto fields() { return std::tie(slot, incarnation); }
};
/// Sent every heartbeat interval.
struct Pulse {
  /// Bytes of Output that were taken from this agent.
  std::uint64_t output_taken = 0;
  /// Where all coordinators of the job are by now; none: as in Setup.
  std::vector<std::string> coordinators = {};
  auto fields() { return std::tie(output_taken, coordinators); }
};
/// The job is over, or does without this host: end all processes, then yourself.
struct Leave {
  auto fields() { return std::tie(); }
};
/// Its connection has ended, and it may go on: AtWorkNow or, if it has ended, Ended follows.
struct AskAtWork {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  auto fields() { return std::tie(slot, incarnation); }
};
using ToAgent = std::variant<Setup, StartProcess, EndProcess, Pulse, Leave, AskAtWork>;

wire::Frame to_frame(const FromAgent&);
wire::Frame to_frame(const ToAgent&);
/// Errc::corrupt.
Result<FromAgent> from_agent(const wire::Frame&);
Result<ToAgent> to_agent(const wire::Frame&);

}  // namespace piracema::cluster
