#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "jobs/protocol/users.h"

/// What a cluster is asked to run, and on which of its nodes: a queue that is replicated
/// (docs/design/020-a-cluster.md).
namespace piracema::jobs {

using JobId = std::uint64_t;

constexpr std::size_t words_bytes_max = std::size_t{64} << 10;
constexpr std::size_t output_bytes_max = std::size_t{16} << 10;
constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t address_bytes_max = 64;
constexpr std::size_t label_bytes_max = 256;
/// Of a line that says why something has ended.
constexpr std::size_t why_bytes_max = 1'024;
/// Of a part: its words, and what it reads.
constexpr std::size_t part_bytes_max = std::size_t{16} << 10;

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
  /// So many nodes it gets, all at once. The first one runs the command, which has parts run on the
  /// others.
  std::uint32_t nodes = 1;
  /// Places of each node that it takes.
  std::uint32_t slots = 1;
  /// So often it is begun again after a failure of its own. Losses of nodes do not count.
  std::uint32_t retries = 0;
  /// The only node that will do; empty: any.
  std::string node;
  auto fields() {
    return std::tie(name, command, environment, directory, nodes, slots, retries, node);
  }
  bool operator==(const JobSpec&) const = default;
};

/// Says so in a job's environment.
constexpr const char* follows_nodes_variable = "PIRACEMA_WATCH_HOSTS=true";
constexpr const char* wants_alike_variable = "PIRACEMA_ALIKE=true";
inline bool says(const JobSpec& spec, const char* variable) {
  return std::find(spec.environment.begin(), spec.environment.end(), variable) !=
         spec.environment.end();
}
/// Of several nodes, and its command looks at the file that names them: one of them, but for the
/// first, may leave the job and another one take its place while it runs.
inline bool follows_nodes(const JobSpec& spec) {
  return spec.nodes > 1 && says(spec, follows_nodes_variable);
}
/// Says so in a job's environment: it does not stand still while a user is at its machine, but
/// leaves at once, as a stream does; or its command stops what it has started by itself, at SIGTSTP
/// and until SIGCONT.
constexpr const char* never_suspended_variable = "PIRACEMA_SUSPEND=never";
constexpr const char* suspends_itself_variable = "PIRACEMA_SUSPEND=self";
/// Of several nodes it does not, either: what waits elsewhere for what stands still would keep its
/// places for nothing.
inline bool can_stand_still(const JobSpec& spec) {
  return spec.nodes == 1 && !says(spec, never_suspended_variable);
}
/// All its machines are of one kind (Node::kind), at once and ever after: an image of its processes
/// goes on where processor, libraries and MPI are what they were.
inline bool wants_alike(const JobSpec& spec) { return says(spec, wants_alike_variable); }

/// Of such a job, a stream with several coordinators (docs/design/019-three-coordinators.md): each
/// of them on a node of its own, so it goes on when the first node is lost.
inline bool outlives_first_node(const JobSpec& spec) {
  return follows_nodes(spec) &&
         std::any_of(spec.environment.begin(), spec.environment.end(), [](const auto& variable) {
           return variable == "PIRACEMA_COORDINATORS=3" || variable == "PIRACEMA_COORDINATORS=5";
         });
}

/// So many nodes must stay that most of its coordinators do, when its first node is left.
inline std::size_t most_coordinators(const JobSpec& spec) {
  const auto& all = spec.environment;
  return std::find(all.begin(), all.end(), "PIRACEMA_COORDINATORS=5") != all.end() ? 3 : 2;
}

enum class JobState : std::uint8_t {
  waiting,    ///< For a place.
  running,    ///< On `node`, or on its way there.
  leaving,    ///< It was asked to end.
  ending,     ///< Its command has ended, and parts of it have yet to.
  done,       ///< With exit code 0.
  failed,     ///< With another one, by a signal, or it could not be started.
  cancelled,  ///< Somebody did not want it any more.
};
constexpr bool is_over(JobState state) { return state >= JobState::done; }

/// A beginning of a job, and what of it: the command, or a part.
struct Attempt {
  JobId job = 0;
  std::uint32_t attempt = 0;
  /// 0: the command.
  std::uint32_t part = 0;
  auto fields() { return std::tie(job, attempt, part); }
  auto operator<=>(const Attempt&) const = default;
};
enum class End : std::uint8_t {
  exited,       ///< By itself, or by the signal that asked it to.
  not_started,  ///< The node could not.
  fenced,       ///< The node could not be sure of its lease, and has ended it.
  left,         ///< A command, once its node was to be left.
};
struct Ended {
  Attempt attempt;
  End end = End::exited;
  std::uint32_t code = 0;
  std::string why;
  auto fields() { return std::tie(attempt, end, code, why); }
};

/// Of parts that a user has asked for, and not the command: from this number on.
constexpr std::uint32_t first_beside = std::uint32_t{1} << 31;
constexpr bool is_beside(const Attempt& attempt) { return attempt.part >= first_beside; }
/// The code of a part that could not be, or that nobody wants any more: as ssh has it, when it is
/// not the program's own.
constexpr std::uint32_t no_way_there = 255;

/// What a job has run on another of its nodes, or a user beside its command.
struct Part {
  std::string node;
  std::vector<std::string> command;
  /// What it reads first; then nothing comes, until it is to end.
  std::string input;
  /// Whoever has asked for it still wants it.
  bool wanted = true;
  /// Nothing of it is alive.
  std::optional<Ended> ended;
  /// The node where it was asked for. Empty: by a user; or nobody is there any more to be told of
  /// its end, and it lives as long as its attempt.
  std::string asker;
  /// As of a job.
  std::uint64_t heard = 0;
  auto fields() { return std::tie(node, command, input, wanted, ended, asker, heard); }
};

/// A job as the cluster knows it.
struct Job {
  JobId id = 0;
  JobSpec spec;
  JobState state = JobState::waiting;
  /// Where it runs, or ran last: its command, and its parts.
  std::string node;
  std::vector<std::string> others;
  /// Of the newest attempt, by their numbers.
  std::map<std::uint32_t, Part> parts;
  /// What it is once its parts have ended.
  JobState next = JobState::waiting;
  /// Counts its beginnings: only the newest one may be alive.
  std::uint32_t attempt = 0;
  bool cancelled = false;
  /// Ended by itself, and badly; ended with its node.
  std::uint32_t failures = 0, losses = 0;
  /// As a shell has it: 128 and the signal.
  std::uint32_t code = 0;
  /// Of the last end, or what it waits for; a line.
  std::string why;
  /// By the clock of the group (`Answer::now_ms`), whose origin is anywhere; 0: not yet. A job that
  /// waits after a failure of its own has the time of that in `ended_ms`, as long as it pauses.
  std::uint64_t submitted_ms = 0, started_ms = 0, ended_ms = 0;
  /// The last of what it has said, and how many bytes came before that. Of one that outlives its
  /// first node: also what its parts have said.
  std::string output;
  std::uint64_t output_before = 0;
  /// So much of what its command has written was heard of.
  std::uint64_t heard = 0;
  Owner owner;
  /// The first node of this attempt was lost or left, and the job goes on (outlives_first_node):
  /// the command on `node` joins it.
  bool joins = false;
  /// Of one that wants machines which are alike: of those that it began on first.
  std::string kind;
  /// It stands still, as a user is at its machine; it leaves about then, by the clock of the group,
  /// if he is there still. 0: it does not.
  std::uint64_t leaves_ms = 0;
  auto fields() {
    return std::tie(id, spec, state, node, others, parts, next, attempt, cancelled, failures,
                    losses, code, why, submitted_ms, started_ms, ended_ms, output, output_before,
                    owner, joins, kind, heard, leaves_ms);
  }
};

/// Its command has begun, or will, and has not ended.
inline bool runs(const Job& job) {
  return job.state == JobState::running || job.state == JobState::leaving;
}
/// It stands still, as a user is at its machine.
inline bool is_suspended(const Job& job) {
  return job.state == JobState::running && job.leaves_ms != 0;
}
/// So long a job that has failed waits before it begins again: a second, and twice as long each
/// time.
inline std::uint64_t pause_ms(const Job& job) {
  constexpr std::uint64_t first_ms = 1'000, most_ms = 60'000;
  return std::min(most_ms, first_ms << std::min(job.failures - 1, 6u));
}
inline bool pauses(const Job& job) { return job.state == JobState::waiting && job.ended_ms != 0; }
/// It was given that node.
inline bool has_node(const Job& job, const std::string& node) {
  return job.node == node ||
         std::find(job.others.begin(), job.others.end(), node) != job.others.end();
}

/// Something of it may live there.
inline bool lives_on(const Job& job, const std::string& node) {
  return has_node(job, node) || std::any_of(job.parts.begin(), job.parts.end(), [&](auto& part) {
           return part.second.node == node && !part.second.ended;
         });
}

/// What of those jobs that can stand still (can_stand_still) a machine keeps which is not lent.
enum class Kept : std::uint8_t {
  nothing,       ///< All leave.
  stands_still,  ///< They wait for its user to go, for a while.
  goes_on,       ///< He has gone in time.
};

/// Whether jobs may begin on a node, whose machine may be lent for a while only.
struct Lent {
  bool open = true;
  /// Of one that is open: its owner has it back after so long; 0: there is no end yet. Of one where
  /// jobs stand still: they leave after so long.
  std::uint64_t closes_in_ms = 0;
  /// Of one that is not: a few words, such as "its user is there".
  std::string why;
  /// Of one that is not. It is told apart from the others, which are older.
  Kept kept = Kept::nothing;
  auto fields() { return std::tie(open, closes_in_ms, why); }
};

/// A node as the cluster knows it.
struct Node {
  std::string name;
  /// A process of it; a later one has another number, drawn at random.
  std::uint64_t incarnation = 0;
  std::uint32_t slots = 0;
  /// Where the other nodes reach it; empty: nowhere, and it gets no job of several nodes.
  std::string address;
  /// Of its newest report: one with a smaller number comes late.
  std::uint64_t last_report = 0;
  /// Where it keeps what jobs leave behind.
  std::string directory;
  /// Nothing is begun there, and what runs there is asked to leave.
  bool draining = false;
  /// The same, as its process is about to end.
  bool leaving = false;
  /// As it has said when it was heard last.
  Lent lent;
  /// It has renewed its lease, which ends then by the state's own clock.
  bool alive = false;
  std::uint64_t lease_until_ms = 0;
  std::uint64_t heard_ms = 0;
  /// The client of the group that has its key: nobody else is this node.
  std::uint64_t client = 0;
  /// Places that jobs have taken.
  std::uint32_t used = 0;
  /// What its machine is like, in words: two with the same are alike.
  std::string kind = {};
  /// Machines of one site reach each other by fast links; empty is one as well.
  std::string site = {};
  /// About when it is not lent any more, by the clock of the group; 0: there is no end yet.
  std::uint64_t closes_ms = 0;
  /// As it has said when it was heard last: nothing is begun there, and what runs there stays.
  bool full = false;
  auto fields() {
    return std::tie(name, incarnation, slots, address, last_report, directory, draining, leaving,
                    lent, alive, lease_until_ms, heard_ms, client, used, kind, site, closes_ms,
                    full, lent.kept);
  }
};

/// Nothing is begun there, and what is there goes, but for what it keeps (stays_on).
inline bool is_to_be_left(const Node& node) {
  return node.draining || node.leaving || !node.lent.open;
}
/// It stands still there, or goes on.
inline bool stays_on(const Node& node, const JobSpec& spec) {
  return !node.draining && !node.leaving && !node.lent.open && node.lent.kept != Kept::nothing &&
         can_stand_still(spec);
}
/// Jobs may begin there.
inline bool takes_jobs(const Node& node) {
  return node.alive && !is_to_be_left(node) && !node.full;
}

/// Where the command of a job goes on whose first node is lost or left (outlives_first_node);
/// empty: nowhere, as nothing is begun on those that it has.
inline std::string next_node(const Job& job, const std::map<std::string, Node>& nodes) {
  const auto next = std::find_if(job.others.begin(), job.others.end(), [&](const auto& other) {
    const auto node = nodes.find(other);
    return node != nodes.end() && !node->second.full;
  });
  return next == job.others.end() ? "" : *next;
}

/// Its command has begun several coordinators, as its nodes are machines of their own: else it has
/// begun one (tools/cluster/submission.cpp), and does not outlive its first node.
inline bool has_coordinators_apart(const Job& job, const std::map<std::string, Node>& nodes) {
  std::set<std::string> machines;
  const auto see = [&](const std::string& name) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) return;
    const std::string& address = node->second.address;
    if (address == "localhost" || address.starts_with("127.")) return;
    machines.insert(address);
  };
  see(job.node);
  for (const std::string& other : job.others) see(other);
  const std::size_t coordinators = 2 * most_coordinators(job.spec) - 1;
  return machines.size() >= std::min(job.others.size() + 1, coordinators);
}

/// The first node is to be left, and the job is not: its command ends once the others have all that
/// was there, and one of them runs a command that joins it.
inline bool hands_over(const Job& job, const std::map<std::string, Node>& nodes) {
  if (job.state != JobState::running || !outlives_first_node(job.spec)) return false;
  const auto first = nodes.find(job.node);
  return first != nodes.end() && is_to_be_left(first->second) &&
         job.others.size() >= most_coordinators(job.spec) && has_coordinators_apart(job, nodes) &&
         !next_node(job, nodes).empty();
}

}  // namespace piracema::jobs
