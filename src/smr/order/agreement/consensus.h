#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "smr/order/agreement/votes.h"
#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// What one replica knows of one instance: what it has taken and said, what others said, what is
/// decided. Remembers; the core decides. Pure.
class Consensus {
 public:
  explicit Consensus(std::size_t members) : writes(members), accepts(members), decisions(members) {}

  /// The first valid proposal of this regency, written down. Joins the write-set.
  void take(Regency regency, BatchPtr batch);
  /// A quorum has written it (crash: this replica has accepted it).
  void certify(Vote vote);
  /// `logged`: a record of this place holds it.
  void keep(BatchPtr batch, bool logged);
  /// Null if this replica does not have it.
  BatchPtr find(const Digest& digest) const;
  bool is_logged(const Digest& digest) const;

  bool took_in(Regency regency) const { return taken && taken->regency == regency; }
  /// Has told the others so, in this regency.
  bool accepted_in(Regency regency) const { return certified && certified->regency == regency; }
  /// Decided, and here to be executed.
  bool ready() const { return decided && batch; }

  /// What this replica voted for last.
  std::optional<Vote> taken;
  /// valQ; none is below regency 0, unlike in BFT-SMaRt, where a value decided in the first epoch
  /// looks like none and another may be decided after it.
  std::optional<Vote> certified;
  /// writeSet, by regency.
  std::vector<Vote> written;

  /// A proposal that waits: for its regency to begin, or for others to vouch for its requests.
  BatchPtr held;
  Regency held_in = 0;
  /// Its requests were verified; some were not good for this replica.
  bool held_is_doubtful = false;

  Votes writes, accepts;
  /// Who says that it has decided; all in regency 0.
  Votes decisions;

  std::optional<Digest> decided;
  BatchPtr batch;

 private:
  void forget_oldest();

  struct Kept {
    BatchPtr batch;
    bool logged = false;
  };
  /// Those of the write-set: whoever becomes leader may need one of them.
  std::vector<Kept> kept_;
};

/// Instances around the one that is decided next, in their order. Grows at the end when an
/// instance is first heard of.
class Instances {
 public:
  Instance first() const { return first_; }
  /// One after the last; first() if there is none.
  Instance end() const { return first_ + list_.size(); }
  Consensus* find(Instance instance) {
    if (instance < first_ || instance >= end()) return nullptr;
    return &list_[instance - first_];
  }
  /// `instance` is not below first(); the caller bounds it.
  Consensus& at(Instance instance, std::size_t members);
  /// Forgets all up to and with `instance`.
  void drop_until(Instance instance);
  /// Forgets all above `instance`.
  void drop_after(Instance instance);

 private:
  Instance first_ = 1;
  std::deque<Consensus> list_;
};

}  // namespace piracema::smr
