#pragma once

#include <piracema/batch.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "run/barrier/batch_log.h"

namespace piracema::runtime {

/// What the head of a cycle adds to its part of a snapshot: what was under way in the cycle
/// (Carbone et al. 2015, Algorithm 2).
///
/// The head takes its state when the barriers of its other inputs have come, sends the barrier
/// round the cycle, and notes what comes by back edges until it is there again. A snapshot that
/// was given up may still be under way when the next one begins, so several may be open.
class BackLog {
 public:
  struct Part {
    SnapshotId snapshot = 0;
    /// The state that `cut` was given, and behind it the log: by whom the batches were sent.
    Buffer bytes;
  };

  /// For so many back edges; they are counted from 0 here.
  explicit BackLog(std::size_t inputs) : inputs_(inputs) {}

  /// The state was taken, and what comes from now on is noted.
  void cut(SnapshotId snapshot, Buffer state);
  /// What comes by `input` has to wait until `cut`: it follows a barrier that came there first.
  bool is_blocked(std::size_t input) const { return inputs_[input].ahead != 0; }
  void on_batch(std::size_t input, ReplicaId from, const Batch& batch);
  void on_barrier(std::size_t input, SnapshotId snapshot);
  void on_end(std::size_t input);

  /// A part that is complete, if there is one.
  std::optional<Part> take();

 private:
  struct Input {
    bool ended = false;
    /// The barrier of a snapshot that was not cut yet.
    SnapshotId ahead = 0;
  };
  struct Open {
    SnapshotId snapshot = 0;
    Buffer state;
    std::vector<bool> arrived;
    BatchLog log;
  };

  std::vector<Input> inputs_;
  std::deque<Open> open_;
  SnapshotId last_cut_ = 0;
};

}  // namespace piracema::runtime
