#include "council/group_log.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::council {

Result<Answer> GroupLine::ask(const Operation& operation) {
  const auto waiting = std::make_shared<Waiting>();
  {
    const std::lock_guard lock(mutex_);
    waiting_ = waiting;
  }
  group_.invoke_ordered(encode(operation), [waiting](Result<Buffer> answer) {
    const std::lock_guard lock(waiting->mutex);
    if (!waiting->answer) waiting->answer = std::move(answer);
    waiting->news.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  waiting->news.wait(lock, [&] { return waiting->answer.has_value(); });
  if (!*waiting->answer) return waiting->answer->error();
  return decode_answer(**waiting->answer);
}

void GroupLine::let_go() {
  std::shared_ptr<Waiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = waiting_.lock();
  }
  if (!waiting) return;
  const std::lock_guard lock(waiting->mutex);
  if (!waiting->answer) waiting->answer = Error{Errc::refused, "its replica leads no longer"};
  waiting->news.notify_all();
}

GroupLog::GroupLog(GroupLine& line, Lead lead, Doors doors, std::string snapshots,
                   std::string token, std::chrono::milliseconds keep)
    : line_(line),
      lead_(lead),
      doors_(std::move(doors)),
      snapshots_(std::move(snapshots)),
      token_(std::move(token)),
      keep_(keep) {}

Result<Done> GroupLog::begin(const cluster::JobMetadata& metadata) {
  const auto answer =
      line_.ask(Begin{lead_, token_, static_cast<std::uint64_t>(keep_.count()), metadata.encode()});
  if (!answer || answer->verdict != Verdict::done) {
    return Error{Errc::refused,
                 answer ? "another one coordinates the job" : answer.error().message};
  }
  if (snapshots_.empty()) return Done{};
  auto mark = cluster::JobRecord::begin(snapshots_, token_, keep_, metadata);
  if (!mark) return Error{Errc::config, mark.error().message};
  mark_ = *std::move(mark);
  mark_->give_up();
  return Done{};
}

// Where nobody knows whether it was decided, somebody else may act by it.
cluster::DecisionLog::Kept GroupLog::append(const std::vector<cluster::Decision>& decisions,
                                            const cluster::JobMetadata&) {
  const auto answer = line_.ask(Append{lead_, cluster::encode_decisions(decisions)});
  if (answer && answer->verdict == Verdict::done) return Kept::yes;
  if (answer && answer->verdict == Verdict::nonsense) {
    log(Level::error, "the coordinators do not agree on what was decided before");
  }
  return Kept::deposed;
}

void GroupLog::show_life() {
  if (mark_) mark_->show_life();
}

cluster::DecisionLog::Kept GroupLog::end(int code, const std::string& why) {
  const auto answer = line_.ask(Over{lead_, static_cast<std::uint32_t>(code), why});
  if (!answer || answer->verdict != Verdict::done) return Kept::deposed;
  if (snapshots_.empty()) return Kept::yes;
  const auto removed = cluster::JobRecord::remove(snapshots_);
  if (!removed) log(Level::warning, removed.error().message);
  return removed ? Kept::yes : Kept::no;
}

}  // namespace piracema::council
