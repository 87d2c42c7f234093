#include "run/barrier/aligner.h"

#include "base/ensure.h"

namespace piracema::runtime {

Aligner::Aligner(std::size_t inputs) : inputs_(inputs, State::open), count_(inputs) {}

void Aligner::leave_out(std::size_t input) {
  ENSURE(inputs_[input] == State::open && arrived_ + ended_ == 0);
  inputs_[input] = State::left_out;
  count_ -= 1;
}

std::optional<SnapshotId> Aligner::on_barrier(std::size_t input, SnapshotId snapshot) {
  ENSURE(input < inputs_.size());
  ENSURE(inputs_[input] == State::open);  // A blocked input delivers nothing, an ended one ended.
  if (snapshot <= taken_) return std::nullopt;     // It was overtaken by others.
  ENSURE(arrived_ == 0 || snapshot == snapshot_);  // FIFO: barriers cannot overtake each other.
  snapshot_ = snapshot;
  inputs_[input] = State::arrived;
  arrived_ += 1;
  return aligned();
}

std::optional<SnapshotId> Aligner::on_end(std::size_t input) {
  ENSURE(input < inputs_.size());
  ENSURE(inputs_[input] == State::open);
  inputs_[input] = State::ended;
  ended_ += 1;
  return aligned();
}

std::optional<SnapshotId> Aligner::aligned() {
  if (arrived_ == 0 || arrived_ + ended_ < count_) return std::nullopt;
  overtake(snapshot_);
  return snapshot_;
}

void Aligner::overtake(SnapshotId snapshot) {
  ENSURE(snapshot > taken_ && (arrived_ == 0 || snapshot == snapshot_));
  for (State& input : inputs_) {
    if (input == State::arrived) input = State::open;
  }
  arrived_ = 0;
  taken_ = snapshot;
}

}  // namespace piracema::runtime
