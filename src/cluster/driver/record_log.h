#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cluster/driver/decision_log.h"
#include "cluster/driver/job_record.h"

namespace piracema::cluster {

/// The decisions of a job whose one coordinator has the lock of its directory: in a file there
/// (JobRecord). Nobody else can write to it, so nobody is deposed.
class RecordLog : public DecisionLog {
 public:
  /// `snapshots` is absolute, and locked by us.
  RecordLog(std::string snapshots, std::string token, std::chrono::milliseconds keep);

  Result<Done> begin(const JobMetadata& metadata) override;
  /// A disk that takes none ends nobody's job: from then on it is one whose coordinator must not be
  /// lost.
  Kept append(const std::vector<Decision>& decisions, const JobMetadata& now) override;
  void show_life() override;
  Kept end(int code, const std::string& why) override;

 private:
  const std::string snapshots_, token_;
  const std::chrono::milliseconds keep_;
  std::optional<JobRecord> record_;
  /// All that was decided is in the record.
  bool whole_ = true;
};

}  // namespace piracema::cluster
