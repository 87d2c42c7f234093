#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace piracema::runtime {

/// Aligned barriers of Asynchronous Barrier Snapshotting (Carbone et al. 2015, Algorithm 1;
/// paper 000, section 2.2): an input is held back from its own barrier until all have come.
///
/// Channels are FIFO and every sender sends the same barriers, so one is waited for at a time.
class Aligner {
 public:
  explicit Aligner(std::size_t inputs);

  /// `input` brings no barriers that have to be waited for: a back edge. Before all else.
  void leave_out(std::size_t input);

  /// A barrier came on `input`. The snapshot to take now, if it was the last one.
  std::optional<SnapshotId> on_barrier(std::size_t input, SnapshotId snapshot);

  /// `input` has ended: it counts as arrived for this and all later barriers.
  std::optional<SnapshotId> on_end(std::size_t input);

  /// The snapshot is taken now. Barriers of it that come later change nothing. If some were being
  /// waited for, they are of this snapshot.
  void overtake(SnapshotId snapshot);
  /// Its barrier has not come, and it has not ended.
  bool is_open(std::size_t input) const { return inputs_[input] == State::open; }

  /// What comes on a blocked input has to wait.
  bool is_blocked(std::size_t input) const { return inputs_[input] == State::arrived; }
  /// All but those left out.
  bool all_ended() const { return ended_ == count_; }

 private:
  enum class State { open, arrived, ended, left_out };
  std::optional<SnapshotId> aligned();

  std::vector<State> inputs_;
  std::size_t count_;
  std::size_t arrived_ = 0;
  std::size_t ended_ = 0;
  SnapshotId snapshot_ = 0;
  /// Of those that were taken, the last one.
  SnapshotId taken_ = 0;
};

}  // namespace piracema::runtime
