#pragma once

#include <piracema/error.h>

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "jobs/protocol/job.h"

namespace piracema::tools {

/// What `piracema cluster submit` is told of a job: a command, a stream with its snapshots, or a
/// program that knows nothing of being saved, with its images.
class Submission {
 public:
  /// `submit` outlives it.
  explicit Submission(CLI::App& submit);

  /// Errc::usage.
  Result<jobs::JobSpec> spec() const;

 private:
  Result<Done> make_stream(jobs::JobSpec& spec) const;
  Result<Done> make_saved(jobs::JobSpec& spec) const;
  Result<std::string> how_it_may_differ() const;

  jobs::JobSpec spec_;
  bool stream_ = false, resume_ = false, changed_program_ = false, changed_state_ = false,
       alike_ = false;
  std::vector<std::string> dropped_;
  std::string snapshots_, images_, every_;
};

}  // namespace piracema::tools
