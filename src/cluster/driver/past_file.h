#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>

#include "host/onlooker_messages.h"

namespace piracema::cluster {

/// What the page of a job shows of the past, in a file beside the record of the job
/// (docs/formats/job-record.md), for the page of the coordinator that takes the job over. Nobody
/// decides by it, so it is not synced: a coordinator does not wait for a disk for it. Who has the
/// lock of the directory may use it.
class PastFile {
 public:
  /// `snapshots` as of JobRecord, which has begun there; `token` is the key of the job.
  PastFile(const std::string& snapshots, std::string token);

  /// In place of what was there. Says once if it cannot.
  void write(const PastOfJob& past);

  /// What a coordinator of the same job has left; nothing if none has, or it cannot be read.
  static std::optional<PastOfJob> find(const std::string& snapshots, const std::string& token);
  /// The job is over. Errc::io.
  static Result<Done> remove(const std::string& snapshots);

 private:
  const std::string path_, token_;
  bool said_ = false;
};

}  // namespace piracema::cluster
