#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "sim/smr/machine.h"

namespace piracema::smr_sim {

/// A machine with a mistake in it: of all operations it does one, and that one alone, otherwise.
/// The replies stay as they are; only the state is another one, and says so.
class AstrayMachine final : public SimMachine {
 public:
  using Told = std::function<void(smr::Instance, std::uint32_t index)>;
  /// Its state was taken for a checkpoint, with what is wrong in it.
  using Shown = std::function<void()>;

  /// From the `at`th operation on, of those that this machine is given, it waits for one that it
  /// can get wrong.
  AstrayMachine(std::unique_ptr<SimMachine> right, std::uint64_t at, Told told, Shown shown)
      : right_(std::move(right)), at_(at), told_(std::move(told)), shown_(std::move(shown)) {}

  Buffer apply(Bytes operation, const smr::Context& context) override {
    auto op = decode_op(operation);
    const bool wrong = ++done_ >= at_ && !was_wrong_ && op && op->kind == Op::Kind::put;
    if (!wrong) return right_->apply(operation, context);
    was_wrong_ = is_wrong_ = true;
    told_(context.instance, context.index);
    op->value += 1'000'000'000 + at_;  // Nobody else's mistake is the same.
    return right_->apply(encode(*op), context);
  }
  Buffer query(Bytes operation) const override { return right_->query(operation); }
  smr::Keys keys(Bytes operation) const override { return right_->keys(operation); }
  std::optional<std::uint64_t> next_deadline() const override { return right_->next_deadline(); }
  void on_time(const smr::Context& context) override { right_->on_time(context); }
  Image snapshot() override {
    if (is_wrong_) shown_();
    return right_->snapshot();
  }
  std::uint64_t state_bytes() const override { return right_->state_bytes(); }
  bool restore(Bytes image) override {
    is_wrong_ = false;  // It is another replica's state now.
    return right_->restore(image);
  }
  std::uint64_t hash() const override { return right_->hash(); }

 private:
  const std::unique_ptr<SimMachine> right_;
  const std::uint64_t at_;
  const Told told_;
  const Shown shown_;
  std::uint64_t done_ = 0;
  bool was_wrong_ = false, is_wrong_ = false;
};

}  // namespace piracema::smr_sim
