#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/view.h"

namespace piracema::smr {

/// A replica that is added counts in quorums only when it is where the group was so long ago. With
/// liars it may lack what is not proven to strangers yet as well (milestone_interval).
constexpr std::chrono::milliseconds newcomer_lag{500};

/// Replicas that are to be added and fetch the state and what follows on it, as learners, before
/// the change that makes them members is ordered: who waits for them, and for what. Nothing was
/// ordered while somebody waits, so to give up changes nothing. Pure.
class Newcomers {
 public:
  /// `view` is the one that they are added to.
  Newcomers(const View& view, const std::vector<ReplicaId>& added);

  /// What a replica says of itself.
  struct Told {
    Instance decided = 0;
    /// It has lost what it had promised, or was started as if it had.
    bool silent = false;
    /// Of the checkpoint that it fetches; 0 of 0 if it fetches none.
    std::uint32_t pieces = 0, of = 0;
  };
  void told(Time now, ReplicaId from, const Told& told);
  /// The connection to it has ended, or never stood.
  void lost(ReplicaId from, const std::string& why);

  /// All of them are near, by what they and so many members say that one of these is right.
  bool are_near() const;
  /// How often one of them came nearer.
  std::uint64_t steps() const { return steps_; }
  /// For people, one line: "replica 3 has 12 of 400 pieces of a checkpoint; replica 4: no answer".
  std::string waits_for() const;

 private:
  struct Newcomer {
    std::optional<Told> told;
    std::string trouble;
  };
  /// Where the group is; none while too few have told.
  std::optional<Instance> group() const;
  bool is_near(const Newcomer& one) const;

  const View view_;
  std::map<ReplicaId, Newcomer> added_;
  std::map<ReplicaId, Instance> members_;
  /// Where the group was, in the order of time; the first is as old as a newcomer may be late.
  struct Sample {
    Time at{};
    Instance group = 0;
  };
  std::deque<Sample> samples_;
  std::uint64_t steps_ = 0;
};

}  // namespace piracema::smr
