#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/operator.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "flow/plan.h"
#include "run/packet/port.h"
#include "run/replica/operator_guard.h"
#include "run/replica/replica_init.h"
#include "state/keyed_saver.h"
#include "state/plain_part.h"

namespace piracema::runtime {

/// The state of a replica as its parts of snapshots have it: makes them, hands them over to who
/// stores them, and goes on from one. States by key are frozen, which takes no time, and saved in
/// pieces between which the replica goes on; no more of them than may be in memory.
class PartSaver {
 public:
  /// All of them outlive it.
  PartSaver(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, Port& port,
            OperatorGuard& guard);

  /// The operator has these states by key, which outlive it; as `init` says.
  void begin_keys(KeyedStates& states, const ReplicaInit& init);
  bool has_keys() const { return keyed_.has_value(); }

  // ---- going on from a snapshot
  /// A part without its states by key was so large.
  void restored_plain(std::size_t bytes) { last_part_bytes_ = bytes; }
  /// States by key that are here already, and those that `init` says where they lie.
  Result<Done> load_keys(ReplicaInit& init, const Operator& of);
  /// Its states by key, if they are as a snapshot has them; else null. Nothing is called after
  /// that.
  std::shared_ptr<state::KeptStates> keep();

  // ---- saving a part; these throw what the operator does
  /// The part but for states by key, and for what was under way.
  Buffer plain_part(state::Stage stage, Operator& of);
  /// States by key are as they are now in this snapshot; a part that was being saved is given up.
  /// `complete` is the newest complete snapshot, `items_out` were sent before.
  void cut(SnapshotId snapshot, SnapshotId complete, std::uint64_t items_out);
  /// `part` is whole but for states by key, with `under_way` bytes of batches.
  void save(SnapshotId snapshot, Buffer part, std::size_t under_way);

  /// States by key wait to be saved, and what was saved does not wait to be written.
  bool can_go_on() const;
  /// Saves a little more of them, if it can.
  void go_on();

 private:
  const ReplicaId self_;
  const flow::ReplicaPlan& plan_;
  const Graph& graph_;
  Port& port_;
  OperatorGuard& guard_;
  /// Where the operator has states by key.
  std::optional<state::KeyedSaver> keyed_;
  std::size_t unwritten_bytes_max_ = 0;
  std::size_t last_part_bytes_ = 0;
  /// Up to the barrier of the part that is open.
  std::uint64_t items_out_at_cut_ = 0;
  std::size_t under_way_ = 0;
  /// When a slice of states was saved last, or they were cut.
  Time last_slice_{};
};

}  // namespace piracema::runtime
