#pragma once

#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

/// What the parts of a coordinator share, without it: a job that is planned and whose processes
/// have joined. Its first epoch is for the test to raise.
struct PlannedParts {
  explicit PlannedParts(const JobSettings& settings = test_settings())
      : journal{JobMetadata(settings)} {
    journal.decide(TermRaised{1});
    detector.grow(members.size());
    members.spawn(now);
    const Joined first{.slot = 0,
                       .address = "address",
                       .graph = runtime::encode_shape(test_shape()),
                       .layouts = {"i64", "nothing", "nothing"}};
    REQUIRE(job.admit(first).ok());
    for (Slot slot = 0; slot < members.active(); ++slot) members[slot].join("address");
    journal.take();
  }
  PlannedParts(const PlannedParts&) = delete;

  void begin_epoch() {
    journal.decide(EpochRaised{journal.metadata().epoch + 1});
    journal.take();
  }
  /// The notes of one kind since the last call.
  template <class N>
  std::vector<N> told() {
    std::vector<N> found;
    for (const Action& action : journal.take()) {
      const auto* tell = std::get_if<Tell>(&action);
      if (tell == nullptr) continue;
      if (const N* one = std::get_if<N>(&tell->note)) found.push_back(*one);
    }
    return found;
  }

  Time now{1'000'000'000};
  Journal journal;
  Members members{journal};
  FailureDetector detector{journal.settings()};
  PlannedJob job{journal};
};

}  // namespace piracema::cluster
