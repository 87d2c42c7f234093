#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/stream_sight.h"

namespace piracema::jobs {

/// How long a node may be unheard of before its jobs begin elsewhere, and how long after it was
/// last sure of its lease nothing of its jobs lives any more. The difference is what clocks may be
/// apart in their speed, and what ending a process takes.
constexpr std::uint64_t lease_ms = 5'000, fence_ms = 3'000;

// ---- what nodes say -------------------------------------------------------------------------

/// What a node says counts if its own key has said it: that with which it has joined first.

/// A process is there for the node; whatever ran for one before it is gone.
struct Join {
  std::string node;
  std::uint64_t incarnation = 0;
  std::uint32_t slots = 0;
  std::string directory;
  /// Where the other nodes reach it; empty: nowhere.
  std::string address;
  /// As that of a report.
  std::uint64_t number = 0;
  Lent lent = {};
  /// What its machine is like, and where it is (Node::kind, Node::site).
  std::string kind = {}, site = {};
  /// As that of a report.
  bool full = false;
  auto fields() {
    return std::tie(node, incarnation, slots, directory, address, number, lent, kind, site, full);
  }
};
/// What a job has written, from so many bytes on.
struct Said {
  Attempt attempt;
  std::uint64_t from = 0;
  std::string text;
  auto fields() { return std::tie(attempt, from, text); }
};
/// The command of a job, or a part of it, wants this run on a node of the job.
struct AskedPart {
  Attempt part;
  std::string node;
  std::vector<std::string> command;
  std::string input;
  auto fields() { return std::tie(part, node, command, input); }
};
/// Renews the lease. What has ended, and what was said, is told until it was answered.
struct Report {
  std::string node;
  std::uint64_t incarnation = 0;
  /// Counts what the process asks. Of two the later one says what is there.
  std::uint64_t number = 0;
  /// The node is about to leave: nothing is begun there, and what runs is asked to end.
  bool leaving = false;
  /// The same while it is not open, and until it is again, but for what is kept there.
  Lent lent = {};
  /// What it knows of, and need not be told again.
  std::vector<Attempt> has;
  std::vector<Ended> ended;
  std::vector<Said> said;
  /// Parts that are wanted by what runs there, and what those are as long as that was not answered.
  std::vector<Attempt> wants;
  std::vector<AskedPart> asks;
  /// Its home has no room for what a job leaves behind: nothing is begun there, and what runs
  /// stays.
  bool full = false;
  auto fields() {
    return std::tie(node, incarnation, number, leaving, lent, has, ended, said, wants, asks, full,
                    lent.kept);
  }
};
/// The process leaves for good: its jobs have ended.
struct Leave {
  std::string node;
  std::uint64_t incarnation = 0;
  auto fields() { return std::tie(node, incarnation); }
};

// ---- what users say ---------------------------------------------------------------------------

struct Submit {
  JobSpec spec;
  auto fields() { return std::tie(spec); }
};
struct Cancel {
  JobId job = 0;
  auto fields() { return std::tie(job); }
};
struct Drain {
  std::string node;
  bool on = true;
  auto fields() { return std::tie(node, on); }
};
/// The node is no part of the cluster any more. One that is there, or in whose places a job lives,
/// is kept, and the answer says why. One that is not known: nothing is to be done.
struct Forget {
  std::string node;
  auto fields() { return std::tie(node); }
};

/// This is run where the command of the job runs, as a part of it, such as `piracema savepoint`,
/// which asks the stream that the command is. Refused unless the command runs and is to go on. The
/// answer has the job, in whose parts the last one is this; once that has ended `Ended::why` is the
/// last of what it has said. The last few of an attempt can be seen (ShowJob, AwaitJob).
struct RunBeside {
  JobId job = 0;
  std::vector<std::string> command;
  auto fields() { return std::tie(job, command); }
};

/// The job has so many nodes from now on, two or more. Refused unless it follows its nodes
/// (follows_nodes) and is not over. One that runs gets others as they have room, before any job
/// begins, or does without the last ones that it was given: their parts leave, and keep their
/// places until they have. The answer has the job.
struct Resize {
  JobId job = 0;
  std::uint32_t nodes = 0;
  auto fields() { return std::tie(job, nodes); }
};

/// A user comes; or one that is there has another role or account from now on, and jobs that were
/// asked for keep theirs. Refused if it is there already, or is not.
struct PutUser {
  User user;
  bool is_there = false;
  auto fields() { return std::tie(user, is_there); }
};
/// Who is one no more is no node either: whether its key may say anything is the group's matter.
struct DropUser {
  std::string name;
  auto fields() { return std::tie(name); }
};

// ---- what anybody asks --------------------------------------------------------------------------

/// Jobs from this one on, in order; without what they have said.
struct ListJobs {
  JobId from = 0;
  auto fields() { return std::tie(from); }
};
struct ListNodes {
  auto fields() { return std::tie(); }
};
struct ListUsers {
  auto fields() { return std::tie(); }
};
/// One job, with what it has said, and what users have had run beside it.
struct ShowJob {
  JobId job = 0;
  auto fields() { return std::tie(job); }
};

/// Of a node: held (smr::Watchable) until what it is to do differs from what an answer has told, so
/// that it need not wait for its next report. It renews no lease.
struct AwaitOrders {
  std::string node;
  std::uint64_t incarnation = 0;
  /// Of that answer. A replica that is behind it has no news.
  std::uint64_t mark = 0, now_ms = 0;
  auto fields() { return std::tie(node, incarnation, mark, now_ms); }
};

/// Of whoever follows a job: held until it, or what it has said, differs from what an answer has
/// told.
struct AwaitJob {
  JobId job = 0;
  /// Of that answer; 0: there was none. A replica that is behind it has no news.
  std::uint64_t mark = 0, now_ms = 0;
  auto fields() { return std::tie(job, mark, now_ms); }
};

/// What has happened, from that event on, in order; `Answer::mark` is the number of the newest one.
struct ListEvents {
  std::uint64_t from = 0;
  auto fields() { return std::tie(from); }
};
/// Held until there is such an event, or a later one.
struct AwaitEvents {
  std::uint64_t from = 0;
  /// Of the answer before. A replica that is behind it has no news.
  std::uint64_t now_ms = 0;
  auto fields() { return std::tie(from, now_ms); }
};

// ---- what is told and asked beside the order ------------------------------------------------
// It is in no log: whoever leads knows it, as long as it does (StreamBoard).

/// Of a node: what the streams say of themselves that are the commands of jobs there. By the number
/// of its process, which nobody else is told, it is known who tells. `Answer::mark` is not 0 if
/// somebody has asked lately.
struct TellStreams {
  std::string node;
  std::uint64_t incarnation = 0;
  std::vector<StreamSight> sights;
  auto fields() { return std::tie(node, incarnation, sights); }
};
/// What is known of streams that run, of jobs from this one on, in order.
struct ListStreams {
  JobId from = 0;
  auto fields() { return std::tie(from); }
};

/// The order is the protocol.
using Operation =
    std::variant<Join, Report, Leave, Submit, Cancel, Drain, ListJobs, ListNodes, ShowJob, Forget,
                 AwaitOrders, AwaitJob, RunBeside, PutUser, DropUser, ListUsers, ListEvents,
                 AwaitEvents, TellStreams, ListStreams, Resize>;
/// It changes nothing, so that it need not be ordered.
bool is_question(const Operation& operation);
/// It must not be ordered: replicas have different answers to it.
bool is_beside_order(const Operation& operation);

// ---- answers ----------------------------------------------------------------------------------

/// A node of a job: where other nodes reach it, and its site.
struct HostOfOrder {
  std::string name, address, site = {};
  auto fields() { return std::tie(name, address, site); }
  bool operator==(const HostOfOrder&) const = default;
};

/// What a node is to run.
struct Order {
  Attempt attempt;
  /// It is to leave: SIGTERM, and after a while SIGKILL.
  bool leave = false;
  /// Unless the node has it.
  std::optional<JobSpec> spec;
  /// Of a part: what it reads.
  std::string input;
  /// Of the command of a job of several nodes: all of them, its own first. Once the node has it,
  /// only where it follows them. Also of parts of a job that outlives its first node: any of them
  /// may coordinate it.
  std::vector<HostOfOrder> hosts;
  /// With `spec`.
  Owner owner;
  /// Of the command: the job goes on, and it joins that.
  bool joins = false;
  /// Of the command: its node is to be left and the job goes on, so it ends by itself once `hosts`,
  /// which has this node no more, has all that was here.
  bool hands_over = false;
  auto fields() { return std::tie(attempt, leave, spec, input, hosts, owner, joins, hands_over); }
};
struct Answer {
  enum class Verdict : std::uint8_t {
    done,
    refused,   ///< `why` says what was wanted and found.
    stranger,  ///< To a node: another process has its name, or it has to join anew.
    nonsense,  ///< It cannot be understood.
  };
  Verdict verdict = Verdict::done;
  std::string why;
  /// Of Submit.
  JobId job = 0;
  /// Of Join and Report: all that is to run there, and nothing else.
  std::vector<Order> orders;
  /// Of Report: parts that the node wants and that have ended, or were refused.
  std::vector<Ended> ended;
  std::vector<Job> jobs;
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<Event> events;
  std::vector<StreamSight> streams;
  /// Of ListJobs, ListEvents and ListStreams: where the next one goes on; 0: that was all.
  JobId next = 0;
  /// To a question, Join and Report: the group's clock at its last operation, in milliseconds.
  std::uint64_t now_ms = 0;
  /// Of Join and Report: stands for all that the node is to do, and is never 0. Of AwaitOrders:
  /// what that is now, if it is something else; 0: no news. The same of AwaitJob, for the job.
  std::uint64_t mark = 0;
  auto fields() {
    return std::tie(verdict, why, job, orders, ended, jobs, nodes, users, events, streams, next,
                    now_ms, mark);
  }
};

Buffer encode(const Operation& operation);
/// Errc::corrupt.
Result<Operation> decode_operation(Bytes bytes);
/// With the version of the protocol before it, so that a program of another one is told.
Buffer encode(const Answer& answer);
/// Errc::corrupt; Errc::config names another version.
Result<Answer> decode_answer(Bytes bytes);

/// Errc::usage says what is wrong with a job that was asked for.
Result<Done> check(const JobSpec& spec);
/// Errc::usage says what is wrong with a part that was asked for.
Result<Done> check(const AskedPart& part);
Result<Done> check(const RunBeside& beside);
/// Errc::usage: names are of letters, digits, '.', '-' and '_'.
Result<Done> check_name(const std::string& name);
/// Of letters, digits, '.', '-', '_' and ':', or empty: what a host is reached at.
bool is_address(const std::string& address);
/// Of a few visible letters and spaces, or empty: what a machine is like, or where.
bool is_label(const std::string& kind);
/// A name as of a job, or empty: lines of files have it.
bool is_site(const std::string& site);

}  // namespace piracema::jobs
