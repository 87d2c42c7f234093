#include "jobs/local/job_runner.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/text.h"
#include "os/exit_code.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds report_every{500};
// For a job to end by itself once it was asked to: a stream takes its last snapshot.
constexpr milliseconds grace{30'000};
constexpr milliseconds fence{fence_ms};
// Of a command that can be gone on from, as of `piracema run`.
constexpr int stopped_code = 75;
constexpr const char* no_room = "the home of the node has no room";
constexpr std::size_t said_bytes_max = std::size_t{256} << 10;

}  // namespace

std::vector<JobRunner::Action> JobRunner::step(Time now, const Event& event) {
  now_ = std::max(now_, now);
  std::visit([this](const auto& what) { on(what); }, event);
  give_back_in_time();
  for (auto& [piece, local] : jobs_) {
    if (local.kill_at && now_ >= *local.kill_at) terminate(piece, local, true);
  }
  if (began_ && !question_ && (hurry_ || now_ >= ask_at_) && !finished_) ask();
  return std::exchange(actions_, {});
}

std::optional<Time> JobRunner::next_deadline() const {
  if (finished_ || !began_) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&next](Time time) {
    if (!next || time < *next) next = time;
  };
  if (!question_) consider(ask_at_);
  const bool any_lives = std::ranges::any_of(
      jobs_, [](const auto& job) { return !job.second.ended && !job.second.killed; });
  if (const auto look = window_.next(any_lives)) consider(*look);
  for (const auto& [piece, local] : jobs_) {
    if (local.kill_at && !local.killed) consider(*local.kill_at);
  }
  return next;
}

bool JobRunner::all_over() const {
  return std::all_of(jobs_.begin(), jobs_.end(),
                     [](const auto& job) { return job.second.ended.has_value(); });
}

// ---- a machine that is lent
// ------------------------------------------------------------------------

void JobRunner::give_back_in_time() {
  if (window_.turns(now_)) {
    hurry_ = true;
    switch (window_.phase_then()) {
      case LentWindow::Phase::open:
      case LentWindow::Phase::kept:
        go_on();
        break;
      case LentWindow::Phase::suspended:
        stand_still();
        break;
      case LentWindow::Phase::closed:
        have_all_leave(false);
        if (!all_over()) actions_.push_back(Tell{window_.why_jobs_leave(now_)});
        break;
    }
  }
  if (!window_.is_over(now_)) return;
  for (auto& [piece, local] : jobs_) terminate(piece, local, true);
}

bool JobRunner::stays(const Local& local) {
  return local.can_stand_still && !local.was_to_end && !local.killed && !local.ended;
}

bool JobRunner::any_stays() const {
  return std::ranges::any_of(jobs_, [](const auto& job) { return stays(job.second); });
}

void JobRunner::stand_still() {
  for (auto& [piece, local] : jobs_) {
    if (!local.can_stand_still) have_leave(piece, local);
  }
  if (all_over()) return;
  actions_.push_back(
      Tell{any_stays() ? window_.why_jobs_stand_still(now_) : window_.why_jobs_leave(now_)});
  for (auto& [piece, local] : jobs_) {
    if (!stays(local)) continue;
    local.suspended = true;
    actions_.push_back(Suspend{{piece.first, local.attempt, piece.second}, local.by_itself});
  }
}

void JobRunner::go_on() {
  bool any = false;
  for (auto& [piece, local] : jobs_) {
    if (!std::exchange(local.suspended, false) || local.ended) continue;
    any = true;
    actions_.push_back(Resume{{piece.first, local.attempt, piece.second}});
  }
  if (any) actions_.push_back(Tell{"its user has gone: jobs go on"});
}

// ---- the group ----------------------------------------------------------------------------------

void JobRunner::ask() {
  Question question{.number = ++questions_, .at = now_};
  Operation operation;
  if (leaving_ && (jobs_.empty() || (all_over() && !joined_))) {
    question.is_leave = true;
    operation = Leave{settings_.node, settings_.incarnation};
  } else if (!joined_) {
    operation = Join{settings_.node,
                     settings_.incarnation,
                     settings_.slots,
                     settings_.directory,
                     settings_.address,
                     question.number,
                     window_.told(now_, any_stays()),
                     settings_.kind,
                     settings_.site,
                     !has_room_};
  } else {
    operation = report(question);
  }
  hurry_ = false;
  question_ = question;
  actions_.push_back(Ask{question.number, std::move(operation)});
}

Operation JobRunner::report(Question& question) {
  Report report{.node = settings_.node,
                .incarnation = settings_.incarnation,
                .number = question.number,
                .leaving = leaving_,
                .lent = window_.told(now_, any_stays()),
                .full = !has_room_};
  std::size_t bytes = 0;
  for (const auto& [piece, local] : jobs_) {
    const Attempt attempt{piece.first, local.attempt, piece.second};
    report.has.push_back(attempt);
    // The end is told with the last of what was said, or after it.
    if (!local.said.empty()) {
      if (bytes + local.said.size() > said_bytes_max) continue;
      bytes += local.said.size();
      report.said.push_back({attempt, local.said_from, local.said});
      question.said_up_to[piece] = local.said_from + local.said.size();
    }
    if (local.ended) {
      report.ended.push_back(*local.ended);
      question.ended.push_back(attempt);
    }
  }
  tell_wishes(report, question);
  return report;
}

// What is too much is told next time, and wanted then.
void JobRunner::tell_wishes(Report& report, Question& question) const {
  std::size_t bytes = 0;
  for (const auto& [attempt, wish] : wishes_) {
    if (!wish.told) {
      if (bytes > said_bytes_max) continue;
      bytes += part_bytes_max;
      report.asks.push_back(wish.part);
      question.asks.push_back(attempt);
    }
    report.wants.push_back(attempt);
  }
}

void JobRunner::await() {
  awaited_ = ++questions_;
  actions_.push_back(
      Await{*awaited_, AwaitOrders{settings_.node, settings_.incarnation, mark_, mark_ms_}});
}

// It says that there is news, and not what: a report asks for that, and renews the lease. Whatever
// goes wrong here costs time alone, as reports go on.
void JobRunner::on(const Awaited& awaited) {
  if (awaited_ != awaited.question) return;
  awaited_.reset();
  if (!joined_ || finished_ || !awaited.answer || awaited.answer->mark == 0) return;
  if (awaited.answer->mark != mark_) {
    hurry_ = true;
  } else {
    await();
  }
}

void JobRunner::on(const Answered& answered) {
  if (!question_ || question_->number != answered.question) return;
  const Question question = *std::exchange(question_, std::nullopt);
  ask_at_ = now_ + report_every;
  if (question.is_leave) {
    finished_ = true;
    actions_.push_back(Finish{});
    return;
  }
  if (!answered.answer) {
    // A node that is to leave waits for its jobs, and not for the group.
    if (leaving_ && all_over()) {
      finished_ = true;
      actions_.push_back(Finish{});
    }
    return trouble(answered.answer.error().message);
  }
  const Answer& answer = *answered.answer;
  if (answer.verdict == Answer::Verdict::done) {
    if (std::exchange(trouble_since_, std::nullopt) && std::exchange(trouble_told_, false)) {
      actions_.push_back(Tell{"the cluster answers again"});
    }
    if (!std::exchange(joined_, true)) {
      actions_.push_back(
          Tell{concat("node ", settings_.node, was_joined_ ? " is back" : " is there", " with ",
                      settings_.slots, settings_.slots == 1 ? " slot" : " slots")});
      was_joined_ = true;
    }
    mark_ = answer.mark;
    mark_ms_ = answer.now_ms;
    if (!awaited_) await();
    forget_told(question);
    end_wishes(answer.ended);
    // One that comes too late says what may run elsewhere by now.
    if (now_ >= question.at + fence) {
      ask_at_ = now_;
      return;
    }
    // Also a node that stands still gives its machine back in time.
    const Time until = question.at + fence;
    actions_.push_back(Extend{window_.at_most(until)});
    follow(answer.orders);
    if (leaving_ && jobs_.empty()) hurry_ = true;
    return;
  }
  trouble(answer.why);
  if (answer.verdict != Answer::Verdict::stranger) return;
  // Its jobs are somebody else's.
  joined_ = false;
  for (auto& [piece, local] : jobs_) terminate(piece, local, true);
}

// One answer that is missing is nothing to be told of.
void JobRunner::trouble(const std::string& why) {
  if (!trouble_since_) trouble_since_ = now_;
  if (now_ - *trouble_since_ < milliseconds(1'000) && joined_) return;
  if (std::exchange(trouble_told_, true)) return;
  actions_.push_back(Tell{why, true});
}

void JobRunner::forget_told(const Question& question) {
  for (const auto& [piece, up_to] : question.said_up_to) {
    const auto found = jobs_.find(piece);
    if (found == jobs_.end() || up_to <= found->second.said_from) continue;
    Local& local = found->second;
    const std::uint64_t told = std::min<std::uint64_t>(up_to - local.said_from, local.said.size());
    local.said.erase(0, told);
    local.said_from = up_to;
  }
  for (const Attempt& attempt : question.ended) {
    const auto found = jobs_.find({attempt.job, attempt.part});
    if (found != jobs_.end() && found->second.attempt == attempt.attempt) jobs_.erase(found);
  }
  for (const Attempt& attempt : question.asks) {
    const auto found = wishes_.find(attempt);
    if (found != wishes_.end()) found->second.told = true;
  }
}

void JobRunner::end_wishes(const std::vector<Ended>& ended) {
  for (const Ended& end : ended) {
    if (wishes_.erase(end.attempt) == 0) continue;
    actions_.push_back(PartOver{end});
    // Whoever has it would keep it until it is told.
    hurry_ = true;
  }
}

void JobRunner::follow(const std::vector<Order>& orders) {
  std::set<Attempt> wanted;
  for (const Order& order : orders) {
    wanted.insert(order.attempt);
    take(order);
  }
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    auto& [piece, local] = *at;
    const bool is_wanted = wanted.contains({piece.first, local.attempt, piece.second});
    if (!is_wanted && !local.ended) terminate(piece, local, true);
    // Whoever does not want it does not want to hear of its end either.
    at = !is_wanted && local.ended ? jobs_.erase(at) : std::next(at);
  }
}

void JobRunner::take(const Order& order) {
  const Piece piece{order.attempt.job, order.attempt.part};
  const auto found = jobs_.find(piece);
  if (found != jobs_.end()) {
    // An older attempt is ended first; then this one is told of again.
    Local& local = found->second;
    if (local.attempt != order.attempt.attempt) return;
    if (order.leave) {
      terminate(piece, local, false);
    } else if (order.hands_over) {
      expect_end(piece, local);
    } else if (!leaving_ && window_.phase_then() == LentWindow::Phase::open && !local.asked &&
               local.kill_at) {
      // It was to leave, and is not any more.
      local.kill_at.reset();
      actions_.push_back(Leaves{order.attempt, false});
    }
    if (order.hosts.empty() || local.hosts == order.hosts) return;
    local.hosts = order.hosts;
    if (!local.ended) actions_.push_back(HostsChanged{order.attempt, order.hosts});
    return;
  }
  if (!order.spec) return;
  Local& local = jobs_[piece];
  local.attempt = order.attempt.attempt;
  local.hosts = order.hosts;
  local.can_hand_over = order.attempt.part == 0 && outlives_first_node(*order.spec);
  local.can_stand_still = order.attempt.part == 0 && can_stand_still(*order.spec);
  local.by_itself = says(*order.spec, suspends_itself_variable);
  const bool is_open = window_.phase_then() == LentWindow::Phase::open;
  if (order.leave || order.hands_over || leaving_ || !is_open) {
    const End end = order.attempt.part == 0 ? End::left : End::exited;
    local.ended =
        Ended{order.attempt, end, exit_code_of_signal(SIGTERM), "it was to leave before it began"};
    hurry_ = true;
    return;
  }
  // The group did not know. A part belongs to what runs, and is tried.
  if (!has_room_ && order.attempt.part == 0) {
    local.ended = Ended{order.attempt, End::left, 127, no_room};
    hurry_ = true;
    return;
  }
  if (is_beside(order.attempt) && !command_runs(order.attempt)) {
    local.ended = Ended{order.attempt, End::not_started, 1, "the job has ended"};
    hurry_ = true;
    return;
  }
  actions_.push_back(
      Launch{order.attempt, *order.spec, order.input, order.hosts, order.owner, order.joins});
}

bool JobRunner::command_runs(const Attempt& attempt) const {
  const auto found = jobs_.find({attempt.job, 0});
  return found != jobs_.end() && found->second.attempt == attempt.attempt && !found->second.ended;
}

bool JobRunner::may_ask(const Attempt& attempt) const {
  return std::ranges::any_of(jobs_, [&](const auto& one) {
    const auto& [piece, local] = one;
    const Attempt its{piece.first, local.attempt, piece.second};
    return piece.first == attempt.job && local.attempt == attempt.attempt && !local.ended &&
           !is_beside(its);
  });
}

// ---- jobs
// -----------------------------------------------------------------------------------------

void JobRunner::terminate(const Piece& piece, Local& local, bool at_once) {
  if (local.ended || local.killed) return;
  if (!at_once && std::exchange(local.asked, true)) return;
  local.suspended = false;
  if (at_once) {
    local.killed = true;
    local.kill_at.reset();
  } else {
    expect_end(piece, local);
  }
  actions_.push_back(Terminate{{piece.first, local.attempt, piece.second}, at_once});
}

void JobRunner::expect_end(const Piece& piece, Local& local) {
  local.was_to_end = true;
  if (local.ended || local.killed || local.kill_at) return;
  local.kill_at = now_ + grace;
  actions_.push_back(Leaves{{piece.first, local.attempt, piece.second}});
}

void JobRunner::on(const Over& over) {
  const auto found = jobs_.find({over.ended.attempt.job, over.ended.attempt.part});
  if (found == jobs_.end() || found->second.attempt != over.ended.attempt.attempt) return;
  found->second.ended = over.ended;
  if (over.ended.attempt.part == 0) {
    // The group may not know of it: a window may close, and open again, while it does not answer.
    const bool is_asked = found->second.killed || found->second.kill_at.has_value();
    // One that may stay after all may have left by then.
    const bool has_left = found->second.was_to_end && over.ended.code == stopped_code;
    const bool is_bad = over.ended.end == End::exited && over.ended.code != 0;
    if ((is_asked || has_left) && is_bad) found->second.ended->end = End::left;
    std::erase_if(wishes_,
                  [&](const auto& wish) { return wish.first.job == over.ended.attempt.job; });
  }
  found->second.kill_at.reset();
  hurry_ = true;
}

void JobRunner::on(const Wrote& wrote) {
  const auto found = jobs_.find({wrote.attempt.job, wrote.attempt.part});
  if (found == jobs_.end() || found->second.attempt != wrote.attempt.attempt) return;
  Local& local = found->second;
  if (wrote.from != local.said_from + local.said.size()) {
    local.said.clear();
    local.said_from = wrote.from;
  }
  local.said += wrote.text;
  if (local.said.size() > output_bytes_max) {
    const std::size_t gone = local.said.size() - output_bytes_max;
    local.said.erase(0, gone);
    local.said_from += gone;
  }
}

void JobRunner::on(const PartAsked& asked) {
  const Attempt& attempt = asked.part.part;
  if (!may_ask(attempt)) {
    actions_.push_back(PartOver{{attempt, End::not_started, no_way_there,
                                 concat("attempt ", attempt.attempt, " of job ", attempt.job,
                                        " does not run on the node ", settings_.node)}});
    return;
  }
  wishes_[attempt] = {asked.part};
  hurry_ = true;
}

void JobRunner::on(const PartDropped& dropped) {
  if (wishes_.erase(dropped.part) != 0) hurry_ = true;
}

void JobRunner::on(const RoomSeen& seen) {
  if (std::exchange(has_room_, seen.has_room) == seen.has_room) return;
  hurry_ = true;
  actions_.push_back(Tell{has_room_ ? "the home of the node has room again: jobs may begin here"
                                    : concat(no_room, ": no job begins here, and what runs stays"),
                          !has_room_});
}

void JobRunner::on(const LeaveAsked&) {
  have_all_leave(std::exchange(leaving_, true));
  hurry_ = true;
}

void JobRunner::have_all_leave(bool at_once) {
  for (auto& [piece, local] : jobs_) {
    if (at_once) {
      terminate(piece, local, true);
    } else {
      have_leave(piece, local);
    }
  }
}

// A part ends when its command does, elsewhere, which takes a last snapshot before that; or when
// the group says that it is to leave before its command. Whether a command has others that go on
// without it the group knows, too.
void JobRunner::have_leave(const Piece& piece, Local& local) {
  if (piece.second == 0 && !local.can_hand_over) {
    terminate(piece, local, false);
  } else {
    expect_end(piece, local);
  }
}

}  // namespace piracema::jobs
