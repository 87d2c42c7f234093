#include "cluster/driver/record_log.h"

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/past_file.h"

namespace piracema::cluster {

RecordLog::RecordLog(std::string snapshots, std::string token, std::chrono::milliseconds keep)
    : snapshots_(std::move(snapshots)), token_(std::move(token)), keep_(keep) {}

Result<Done> RecordLog::begin(const JobMetadata& metadata) {
  auto record = JobRecord::begin(snapshots_, token_, keep_, metadata);
  if (!record) return Error{Errc::config, record.error().message};
  record_ = *std::move(record);
  return Done{};
}

DecisionLog::Kept RecordLog::append(const std::vector<Decision>& decisions,
                                    const JobMetadata& now) {
  if (decisions.empty()) return Kept::yes;
  if (!whole_) return Kept::no;
  const auto added = record_->add(decisions, now);
  if (added) return Kept::yes;
  log(Level::warning,
      concat(added.error().message, ": no other coordinator can take this job over"));
  record_->give_up();
  whole_ = false;
  return Kept::no;
}

// Also where nobody may take the job over: its workers may still run, and for how long is told by
// it.
void RecordLog::show_life() { record_->show_life(); }

DecisionLog::Kept RecordLog::end(int, const std::string&) {
  Kept kept = Kept::yes;
  for (const Result<Done>& removed :
       {JobRecord::remove(snapshots_), PastFile::remove(snapshots_)}) {
    if (removed) continue;
    log(Level::warning, removed.error().message);
    kept = Kept::no;
  }
  return kept;
}

}  // namespace piracema::cluster
