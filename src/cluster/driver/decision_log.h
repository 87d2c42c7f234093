#pragma once

#include <string>
#include <vector>

#include "control/decision.h"
#include "control/job_metadata.h"

namespace piracema::cluster {

/// Where a coordinator keeps what it decides before it does anything by it, for whoever takes the
/// job over: a file beside the snapshots (RecordLog), or a group of coordinators
/// (council::GroupLog). Belongs to the coordinator's thread.
class DecisionLog {
 public:
  enum class Kept {
    yes,
    no,       ///< It takes no decisions any more. The job goes on, and nobody can take it over.
    deposed,  ///< Another one coordinates, or may: nothing is done by these decisions.
  };

  virtual ~DecisionLog() = default;

  /// What is true when this coordinator begins, or goes on with a job. Errc::config says what
  /// cannot be written, Errc::refused that another one coordinates.
  virtual Result<Done> begin(const JobMetadata& metadata) = 0;
  /// Kept for good when it returns; `now` is the metadata after these decisions. None of them: asks
  /// whether this one still coordinates.
  virtual Kept append(const std::vector<Decision>& decisions, const JobMetadata& now) = 0;
  /// Where the coordinators of the job listen, if this one does there.
  virtual std::vector<std::string> doors(const std::vector<std::string>& own) const { return own; }
  /// Call a few times a second.
  virtual void show_life() = 0;
  /// The job is over, with this code: nobody takes it over. `no`: it is, and a file of it is left,
  /// as a warning has said.
  virtual Kept end(int code, const std::string& why) = 0;
};

}  // namespace piracema::cluster
