#pragma once

#include <piracema/error.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cluster/driver/decision_log.h"
#include "control/decision.h"
#include "control/job_metadata.h"
#include "host/agent_messages.h"

namespace piracema::cluster {

/// What makes it possible that another coordinator takes the job over from this one: the log of
/// what is decided, where agents and workers find the other one, and that they go on meanwhile
/// (docs/design/017-taking-a-job-over.md, 019-three-coordinators.md). Belongs to one thread.
class Succession {
 public:
  /// `snapshots` is absolute, and ours; empty where no files can be: then agents and workers hear
  /// of other coordinators by this one alone. Errors as DecisionLog::begin.
  static Result<Succession> begin(std::unique_ptr<DecisionLog> log, const std::string& snapshots,
                                  const std::string& token, std::chrono::milliseconds keep,
                                  const JobMetadata& metadata);

  /// This coordinator listens there. Errc::config.
  Result<Done> listens(std::vector<std::string> addresses);
  /// Call before anything is done by these decisions; `now` is the metadata after them. False: this
  /// one coordinates no longer, and nothing may follow.
  bool decided(const std::vector<Decision>& decisions, const JobMetadata& now);
  /// Call a few times a second. Where other coordinators have come, agents and workers find them
  /// from here on.
  void show_life();
  /// The job is over: nobody is left who could be found, and who was cut off need not look. False:
  /// it is not, as another one coordinates, or may.
  bool end(int code, const std::string& why);

  // ---- for those that are to be found
  std::vector<std::string> environment() const;
  /// Of a coordinator that is one of several: where any of them may be. Else none.
  std::vector<std::string> doors() const { return log_->doors({}); }
  void add_to(Setup& setup) const;

 private:
  Succession(std::unique_ptr<DecisionLog> log, std::string snapshots, std::string token,
             std::chrono::milliseconds keep);
  Result<Done> write_doors();
  /// Where they look, too; empty: nowhere.
  std::string file() const;

  std::unique_ptr<DecisionLog> log_;
  std::string snapshots_;
  std::string token_;
  std::chrono::milliseconds keep_;
  /// Its own, and all that were written.
  std::vector<std::string> addresses_, written_;
};

}  // namespace piracema::cluster
