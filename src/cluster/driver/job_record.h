#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "control/decision.h"
#include "control/job_metadata.h"

namespace piracema::cluster {

/// What the coordinator of a job leaves for the one that takes the job over: the log of its
/// decisions and the key of the job, in a file beside its snapshots in a folder that its user alone
/// may read (docs/formats/job-record.md). Who has the lock of the directory may use it.
class JobRecord {
 public:
  struct Found {
    /// Of the job as it is; nothing if its coordinator could not write down what it decided.
    std::optional<JobMetadata> metadata;
    std::string token;
    /// How long its workers go on without a coordinator.
    std::chrono::milliseconds keep{0};
    /// When there was a coordinator for certain.
    std::chrono::system_clock::time_point seen;

    /// No worker is left that waits for somebody, by the clocks of both hosts.
    bool is_over(std::chrono::system_clock::time_point now) const;
  };

  /// What was left in a directory of snapshots; nothing if nobody left anything. A last decision
  /// that is not whole was not acted upon, and does not count. Errc::corrupt for a damaged one,
  /// Errc::refused for one of another version, Errc::io.
  static Result<std::optional<Found>> find(const std::string& snapshots);
  /// A job that was ended, or whose workers are gone, needs none. Errc::io.
  static Result<Done> remove(const std::string& snapshots);

  /// Writes a new one, in place of the one that was there. Errc::io.
  static Result<JobRecord> begin(const std::string& snapshots, const std::string& token,
                                 std::chrono::milliseconds keep, const JobMetadata& metadata);

  JobRecord(JobRecord&&) = default;
  JobRecord& operator=(JobRecord&&) = default;

  /// Durable when it returns. From time to time it writes the file anew, with `now` as it is after
  /// these decisions. Errc::io; then call `give_up`.
  Result<Done> add(const std::vector<Decision>& decisions, const JobMetadata& now);
  /// Nobody may take the job over any more: what was decided is not in it. Needs no room.
  void give_up();
  /// There is a coordinator.
  void show_life();

 private:
  JobRecord(std::string path, std::string token, std::chrono::milliseconds keep)
      : path_(std::move(path)), token_(std::move(token)), keep_(keep) {}
  Result<Done> write(const JobMetadata& metadata);

  std::string path_;
  std::string token_;
  std::chrono::milliseconds keep_;
  Fd file_;
  std::uint64_t bytes_ = 0, first_bytes_ = 0;
};

}  // namespace piracema::cluster
