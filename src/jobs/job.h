#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

/// What a cluster is asked to run, and on which of its nodes: a queue that is replicated
/// (docs/design/020-a-cluster.md).
namespace piracema::jobs {

using JobId = std::uint64_t;

constexpr std::size_t words_bytes_max = std::size_t{64} << 10;
constexpr std::size_t output_bytes_max = std::size_t{16} << 10;
constexpr std::size_t name_bytes_max = 64;

/// What a user asks for.
struct JobSpec {
  /// For people; the program's name if none was given.
  std::string name;
  /// The program and its arguments. It is looked for on the node.
  std::vector<std::string> command;
  /// "NAME=value", put over the node's own environment.
  std::vector<std::string> environment;
  /// Where it runs; empty: a directory of its own on the node.
  std::string directory;
  /// Places of a node that it takes.
  std::uint32_t slots = 1;
  /// So often it is begun again after a failure of its own. Losses of nodes do not count.
  std::uint32_t retries = 0;
  /// The only node that will do; empty: any.
  std::string node;
  auto fields() { return std::tie(name, command, environment, directory, slots, retries, node); }
  bool operator==(const JobSpec&) const = default;
};

enum class JobState : std::uint8_t {
  waiting,    ///< For a place.
  running,    ///< On `node`, or on its way there.
  leaving,    ///< It was asked to end.
  done,       ///< With exit code 0.
  failed,     ///< With another one, by a signal, or it could not be started.
  cancelled,  ///< Somebody did not want it any more.
};
constexpr bool is_over(JobState state) { return state >= JobState::done; }

/// A job as the cluster knows it.
struct Job {
  JobId id = 0;
  JobSpec spec;
  JobState state = JobState::waiting;
  /// Where it runs, or ran last.
  std::string node;
  /// Counts its beginnings: only the newest one may be alive.
  std::uint32_t attempt = 0;
  bool cancelled = false;
  /// Ended by itself, and badly; ended with its node.
  std::uint32_t failures = 0, losses = 0;
  /// As a shell has it: 128 and the signal.
  std::uint32_t code = 0;
  /// Of the last end, or what it waits for; a line.
  std::string why;
  /// By the clock of the group (`Answer::now_ms`), whose origin is anywhere; 0: not yet.
  std::uint64_t submitted_ms = 0, started_ms = 0, ended_ms = 0;
  /// The last of what it has said, and how many bytes came before that.
  std::string output;
  std::uint64_t output_before = 0;
  auto fields() {
    return std::tie(id, spec, state, node, attempt, cancelled, failures, losses, code, why,
                    submitted_ms, started_ms, ended_ms, output, output_before);
  }
};

/// A node as the cluster knows it.
struct Node {
  std::string name;
  /// A process of it; a later one has another number, drawn at random.
  std::uint64_t incarnation = 0;
  std::uint32_t slots = 0;
  /// Where it keeps what jobs leave behind.
  std::string directory;
  /// Nothing is begun there, and what runs there is asked to leave.
  bool draining = false;
  /// The same, as its process is about to end.
  bool leaving = false;
  /// It has renewed its lease, which ends then by the state's own clock.
  bool alive = false;
  std::uint64_t lease_until_ms = 0;
  std::uint64_t heard_ms = 0;
  /// Places that jobs have taken.
  std::uint32_t used = 0;
  auto fields() {
    return std::tie(name, incarnation, slots, directory, draining, leaving, alive, lease_until_ms,
                    heard_ms, used);
  }
};

}  // namespace piracema::jobs
