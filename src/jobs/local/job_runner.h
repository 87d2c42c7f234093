#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "jobs/local/lent_window.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"

namespace piracema::jobs {

/// What one node does: renews its lease, begins and ends what it is told to, and tells of it. A
/// pure machine: the driver (Node) asks the group, starts and ends processes, and keeps the time.
///
/// Whatever it has begun may live until the last `Extend` says. Who runs a job sees to that, also
/// if this machine is not called any more.
///
/// A machine that is lent for a while is given back in time: jobs are asked to leave as late as
/// what is known of them allows (paper 002, section 3), begin elsewhere, and are ended before it
/// closes. When its user comes back, jobs that can stand still do so first, and go on if he goes in
/// time.
class JobRunner {
 public:
  struct Settings {
    std::string node;
    /// Drawn at random, not 0.
    std::uint64_t incarnation = 0;
    std::uint32_t slots = 1;
    /// Where jobs leave things behind, for people.
    std::string directory;
    /// Where the other nodes reach it; empty: nowhere.
    std::string address = {};
    /// What its machine is like, and where it is (Node::kind, Node::site).
    std::string kind = {}, site = {};
  };

  // ---- events
  /// The group is asked from then on; what is known of the machine is told before.
  struct Began {};
  /// To the question of that number; an error is no answer.
  struct Answered {
    std::uint64_t question = 0;
    Result<Answer> answer;
  };
  /// To the `Await` of that number; an error is no answer.
  struct Awaited {
    std::uint64_t question = 0;
    Result<Answer> answer;
  };
  /// Nothing of the attempt is alive.
  struct Over {
    Ended ended;
  };
  /// From so many bytes on; what was left out before is not told.
  struct Wrote {
    Attempt attempt;
    std::uint64_t from = 0;
    std::string text;
  };
  /// What of a job runs here wants a part to be run on one of the job's nodes; the number of the
  /// part is drawn, and new here. `PartOver` follows, unless it does not want it any more before.
  struct PartAsked {
    AskedPart part;
  };
  struct PartDropped {
    Attempt part;
  };
  /// The node is to leave; once more: at once.
  struct LeaveAsked {};
  /// Of a machine that is lent for a while.
  using LentSeen = LentWindow::Seen;
  using LeavingTakes = LentWindow::Takes;
  /// Whether the node's home has room for what a job leaves behind. While it has none no command
  /// begins, and what runs goes on.
  struct RoomSeen {
    bool has_room = true;
  };
  struct Woken {};
  using Event = std::variant<Began, Answered, Awaited, Over, Wrote, PartAsked, PartDropped,
                             LeaveAsked, LentSeen, LeavingTakes, RoomSeen, Woken>;

  // ---- actions
  struct Ask {
    std::uint64_t question = 0;
    Operation operation;
  };
  /// A question that is held; `Awaited` follows, however late.
  struct Await {
    std::uint64_t question = 0;
    Operation operation;
  };
  struct Launch {
    Attempt attempt;
    JobSpec spec;
    /// Of a part: what it reads.
    std::string input;
    /// Of a job of several nodes: each, the first one first (Order::hosts).
    std::vector<HostOfOrder> hosts;
    Owner owner;
    /// Of a command: the job goes on, and it joins that.
    bool joins = false;
  };
  /// The nodes of a job that follows them (follows_nodes), of which this runs here, as in Launch.
  struct HostsChanged {
    Attempt attempt;
    std::vector<HostOfOrder> hosts;
  };
  /// Of a part that was asked for here: it has ended on its node, or was refused.
  struct PartOver {
    Ended ended;
  };
  /// It is to end by itself from now on, whether it is told so here or elsewhere; or it may stay
  /// after all.
  struct Leaves {
    Attempt attempt;
    bool does = true;
  };
  /// It stands still until it is to go on, or is terminated. `by_itself`: its command sees to that
  /// (suspends_itself_variable).
  struct Suspend {
    Attempt attempt;
    bool by_itself = false;
  };
  struct Resume {
    Attempt attempt;
  };
  /// SIGTERM, or SIGKILL; what stood still goes on, to leave. `Over` follows.
  struct Terminate {
    Attempt attempt;
    bool at_once = false;
  };
  /// All that runs may live until then.
  struct Extend {
    Time until{};
  };
  /// To be said to the node's owner.
  struct Tell {
    std::string text;
    bool is_warning = false;
  };
  struct Finish {};
  using Action = std::variant<Ask, Await, Launch, HostsChanged, PartOver, Leaves, Suspend, Resume,
                              Terminate, Extend, Tell, Finish>;

  explicit JobRunner(Settings settings) : settings_(std::move(settings)) {}

  std::vector<Action> step(Time now, const Event& event);
  /// When it is to be woken.
  std::optional<Time> next_deadline() const;

  /// An answer has come, and the group knows this node.
  bool joined() const { return joined_; }
  std::size_t running() const { return jobs_.size(); }
  /// Jobs may begin here, as far as this machine's owner goes.
  bool is_open() const { return window_.is_open(now_); }

 private:
  /// A job, and what of it: an older attempt of the same is ended first.
  using Piece = std::pair<JobId, std::uint32_t>;
  struct Local {
    std::uint32_t attempt = 0;
    /// It is to end by itself, and is ended by then.
    std::optional<Time> kill_at;
    /// A command whose job may go on without this node: the group says whether it does.
    bool can_hand_over = false;
    /// A command that stands still while a user is there, before it leaves; by itself, or not.
    bool can_stand_still = false, by_itself = false;
    bool suspended = false;
    bool asked = false, killed = false;
    /// Once, whatever it was told after that.
    bool was_to_end = false;
    std::vector<HostOfOrder> hosts;
    std::optional<Ended> ended;
    /// Not answered yet, from this byte on.
    std::uint64_t said_from = 0;
    std::string said;
  };
  struct Question {
    std::uint64_t number = 0;
    Time at{};
    bool is_leave = false;
    /// What it has told.
    std::vector<Attempt> ended;
    std::map<Piece, std::uint64_t> said_up_to;
    std::vector<Attempt> asks;
  };
  struct Wish {
    AskedPart part;
    /// The group knows of it.
    bool told = false;
  };

  void on(const Began&) { began_ = true; }
  void on(const Answered&);
  void on(const Awaited&);
  void on(const Over&);
  void on(const Wrote&);
  void on(const PartAsked&);
  void on(const PartDropped&);
  void on(const LeaveAsked&);
  void on(const LentSeen& seen) { window_.see(seen); }
  void on(const LeavingTakes& takes) { window_.learn(takes); }
  void on(const RoomSeen&);
  void on(const Woken&) {}

  bool all_over() const;
  void give_back_in_time();
  /// It can stand still, and was not asked to leave.
  static bool stays(const Local& local);
  bool any_stays() const;
  void have_all_leave(bool at_once);
  void have_leave(const Piece& piece, Local& local);
  void stand_still();
  void go_on();
  void ask();
  void await();
  Operation report(Question& question);
  void follow(const std::vector<Order>& orders);
  void take(const Order& order);
  /// Here, in that attempt.
  bool command_runs(const Attempt& attempt) const;
  bool may_ask(const Attempt& attempt) const;
  void terminate(const Piece& piece, Local& local, bool at_once);
  void expect_end(const Piece& piece, Local& local);
  void tell_wishes(Report& report, Question& question) const;
  void end_wishes(const std::vector<Ended>& ended);
  void forget_told(const Question& question);
  void trouble(const std::string& why);

  const Settings settings_;
  Time now_{};
  std::vector<Action> actions_;
  std::map<Piece, Local> jobs_;
  std::map<Attempt, Wish> wishes_;
  std::optional<Question> question_;
  std::uint64_t questions_ = 0;
  Time ask_at_{};
  /// The number of the one that is held.
  std::optional<std::uint64_t> awaited_;
  /// Of the newest answer.
  std::uint64_t mark_ = 0, mark_ms_ = 0;
  /// There is something to tell that the question on its way does not.
  bool hurry_ = false;
  bool began_ = false;
  bool joined_ = false, was_joined_ = false, leaving_ = false, finished_ = false;
  LentWindow window_;
  bool has_room_ = true;
  std::optional<Time> trouble_since_;
  bool trouble_told_ = false;
};

}  // namespace piracema::jobs
