#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "flow/plan.h"
#include "run/barrier/aligner.h"
#include "run/barrier/back_log.h"

namespace piracema::runtime {

/// The barriers that come to a replica: which inputs wait for others, when its state is to be
/// taken, and, at the head of a cycle, what was under way there (`Aligner` for inputs from before,
/// `BackLog` for back edges).
class Barriers {
 public:
  explicit Barriers(const flow::ReplicaPlan& plan);

  /// What comes by `input` is to be held.
  bool is_blocked(std::size_t input) const {
    return is_back(input) ? back_log_.is_blocked(*back_number_[input]) : aligner_.is_blocked(input);
  }

  // ---- each returns the snapshot whose state is to be taken now, if any
  std::optional<SnapshotId> on_barrier(std::size_t input, SnapshotId snapshot);
  std::optional<SnapshotId> on_end(std::size_t input);

  /// A batch has come by `input`, which is a back edge from replica `from`.
  void on_back_batch(std::size_t input, ReplicaId from, const Batch& batch) {
    back_log_.on_batch(*back_number_[input], from, batch);
  }

  /// A head has taken its state; its part is complete, and can be had from `take`, when what is
  /// under way in the cycle has come.
  void cut(SnapshotId snapshot, Buffer state) { back_log_.cut(snapshot, std::move(state)); }
  std::optional<BackLog::Part> take() { return back_log_.take(); }

  /// The state for it is taken before all barriers have come: `Aligner::overtake`.
  void overtake(SnapshotId snapshot) { aligner_.overtake(snapshot); }
  /// Its barrier is still to come, and is waited for.
  bool is_open(std::size_t input) const { return aligner_.is_open(input); }

  /// All inputs have ended but those by back edges: no barrier will come any more.
  bool all_ended() const { return aligner_.all_ended(); }

 private:
  bool is_back(std::size_t input) const { return back_number_[input].has_value(); }

  Aligner aligner_;
  BackLog back_log_;
  /// The number of each back edge among them, for `back_log_`; none for other inputs.
  std::vector<std::optional<std::size_t>> back_number_;
};

}  // namespace piracema::runtime
