#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "run/barrier/batch_log.h"
#include "run/packet/packet.h"

namespace piracema::runtime {

/// Barriers of a replica that may not wait for ever behind items: which have waited for as long as
/// they may, and what the replica's part of such a snapshot has beside its state.
///
/// A barrier brings its patience along, and waits with the items for so long. Then it goes ahead of
/// them: the replica takes its state, passes the barrier on, and saves what it had received and not
/// done, what still comes by an input before its barrier does, and what it had not sent (the state
/// of channels, Chandy and Lamport 1985; late, as Flink's unaligned checkpoints with a timeout).
/// docs/design/025-barriers-that-overtake.md.
class Overtaking {
 public:
  struct Part {
    SnapshotId snapshot = 0;
    /// What `cut` was given.
    Buffer state;
    /// What was under way: received batches by who sent them, unsent ones by their lane.
    BatchLog received, unsent;

    bool has_overtaken() const { return !received.empty() || !unsent.empty(); }
  };

  explicit Overtaking(std::size_t inputs) : missing_(inputs) {}

  // ---- before the state is taken --------------------------------------------------------------

  /// The replica knows of it, and has not taken it. No later than `deadline` it should.
  void expect(SnapshotId snapshot, Time deadline);
  /// Until when a barrier of it may wait; `Barrier::forever` if nobody has said so.
  Time deadline_of(SnapshotId snapshot) const;
  /// The oldest that was not taken, if that or a later one has waited for too long: none passes
  /// another one.
  std::optional<SnapshotId> due(Time now) const;

  /// Its state was taken, or that of a later one.
  void taken(SnapshotId snapshot);

  // ---- from then on, until its part is complete -----------------------------------------------

  /// The state was taken: `state`. A part of an earlier snapshot that is still open is given up, as
  /// that snapshot has been.
  void cut(SnapshotId snapshot, Buffer state);
  /// What comes by `input`, before a barrier or the end does, belongs to the part.
  void miss(std::size_t input) { missing_[input] = true; }
  /// One that the barrier has passed on its way out.
  void add_unsent(std::size_t lane, const Batch& batch) {
    open_->part.unsent.add(static_cast<std::uint32_t>(lane), batch);
  }
  /// Something has come by `input`, for a later turn.
  void received(std::size_t input, ReplicaId from, const Packet& packet);
  /// The snapshot whose part is not complete.
  std::optional<SnapshotId> open() const;
  /// Nothing is missing of it; asked when the barrier has left. There is none afterwards.
  std::optional<Part> take();

  /// Nothing is expected, and no part is open.
  bool idle() const { return expected_.empty() && !open_; }
  /// When a snapshot that is expected has waited for too long; none: never.
  std::optional<Time> next_deadline() const;

 private:
  struct Open {
    Time deadline{};
    Part part;
  };

  std::map<SnapshotId, Time> expected_;
  std::optional<Open> open_;
  std::vector<bool> missing_;
};

}  // namespace piracema::runtime
