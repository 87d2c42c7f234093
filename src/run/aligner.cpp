#include "run/aligner.h"

#include "base/ensure.h"

namespace piracema::runtime {

Aligner::Aligner(std::size_t inputs) : inputs_(inputs, State::open) {}

std::optional<SnapshotId> Aligner::on_barrier(std::size_t input, SnapshotId snapshot) {
  ENSURE(input < inputs_.size());
  ENSURE(inputs_[input] == State::open);  // A blocked input delivers nothing, an ended one ended.
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
  if (arrived_ == 0 || arrived_ + ended_ < inputs_.size()) return std::nullopt;
  for (State& input : inputs_) {
    if (input == State::arrived) input = State::open;
  }
  arrived_ = 0;
  return snapshot_;
}

}  // namespace piracema::runtime
