#pragma once

#include <utility>
#include <vector>

#include "control/coordinator_actions.h"
#include "control/job_metadata.h"

namespace piracema::cluster {

/// What is true of a job, and what a step of its coordinator has decided and wants done. The parts
/// of a coordinator share one; nobody changes the metadata but by a decision.
class Journal {
 public:
  explicit Journal(JobMetadata metadata) : metadata_(std::move(metadata)) {}

  const JobMetadata& metadata() const { return metadata_; }
  const JobSettings& settings() const { return metadata_.settings; }

  /// Holds at once; it is ENSUREd that it fits.
  void decide(Decision decision);
  template <class A>
  void act(A action) {
    actions_.emplace_back(std::in_place_type<A>, std::move(action));
  }
  void tell(Note note) { act(Tell{std::move(note)}); }

  /// The same metadata, from elsewhere.
  void reload(JobMetadata metadata) { metadata_ = std::move(metadata); }

  /// All of the step, its decisions first.
  std::vector<Action> take();

 private:
  JobMetadata metadata_;
  std::vector<Decision> decisions_;
  std::vector<Action> actions_;
};

}  // namespace piracema::cluster
