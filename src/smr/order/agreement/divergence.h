#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"

namespace piracema::smr {

/// This replica's state is not that of others: their checkpoints at one place differ.
struct Parted {
  /// The last checkpoint that was stable; 0 is the beginning.
  Instance same_after = 0;
  Instance differs_after = 0;
  /// A quorum of the others agrees. Else no state has, or will have, a quorum.
  bool others_agree = false;
  /// Those whose state is another one.
  std::vector<ReplicaId> others;
};

/// Finds the operation at which replicas part: compares the trails of what each operation has
/// answered and left behind (service/trail.h), first instance by instance and then, in the first
/// one that differs, operation by operation. It takes a second, so that others who find the same at
/// the same time get their answers as well. The replica does nothing else any more. Pure.
class Divergence {
 public:
  /// A place that `one_correct` others find alike is believed.
  Divergence(ReplicaId me, Parted parted, std::size_t one_correct, Time resend_interval);

  void begin(Time now, std::vector<Action>& out);
  /// A trail of this replica's own or of another one.
  void on_trail(ReplicaId from, const Trail& trail, std::vector<Action>& out);
  /// Asks again for what has not come.
  void tick(Time now, std::vector<Action>& out);
  Time next_deadline() const { return std::min(ask_again_, over_at_); }
  bool over(Time now) const { return now >= over_at_; }

  /// What is different: "the state of this replica (1) after instance 64 differs from …".
  std::string what() const;
  struct Place {
    Instance instance = 0;
    std::uint32_t index = 0;
    auto operator<=>(const Place&) const = default;
  };
  /// The first operation that differs; none if all that is known of them is equal.
  std::optional<Place> place() const;
  /// The first instance of which those who find it there know something. A place is the first that
  /// differs only if that is the first one after the last checkpoint that was the same: what an
  /// operation has done shows in later ones, too.
  Instance known_from(const Place& place) const;
  bool knows_all(const Place& place) const { return known_from(place) <= parted_.same_after + 1; }

 private:
  /// What one replica has told.
  struct Told {
    std::optional<Trail> instances;
    std::map<Instance, Trail> operations;
  };

  void ask(ReplicaId whom, Instance first, Instance last, bool operations,
           std::vector<Action>& out) const;
  void ask_for_missing(std::vector<Action>& out) const;
  /// The first instance in which `other` and this replica differ; 0 if that is not known.
  Instance instance_of(const Told& other) const;
  std::optional<Place> place_of(const Told& other) const;

  const ReplicaId me_;
  const Parted parted_;
  const std::size_t one_correct_;
  const Time resend_interval_;
  std::map<ReplicaId, Told> told_;
  Time ask_again_{}, over_at_{};
};

}  // namespace piracema::smr
