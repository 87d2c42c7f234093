#pragma once

#include <piracema/smr/state_machine.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace piracema::smr {

/// For tests: a row of numbers, and operations that show in replies and state whether two that
/// conflict were executed out of order or at once.
class CellsMachine final : public StateMachine {
 public:
  /// Writes some cells what it computes from others and from its place in the order.
  struct Operation {
    std::uint8_t read_count = 0, write_count = 0;
    bool all = false;
    std::uint8_t cells[8] = {};
    /// The reply is longer by so many KiB.
    std::uint8_t padding = 0;
  };
  static constexpr std::size_t cell_count = 16;

  static Buffer encode(const Operation& operation) {
    Buffer out;
    out.append(&operation, sizeof operation);
    return out;
  }

  static Operation draw(Random& random, double write_share, double all_share) {
    Operation operation;
    operation.all = random.chance(all_share);
    operation.read_count = static_cast<std::uint8_t>(random.below(4));
    operation.write_count =
        random.chance(write_share) ? static_cast<std::uint8_t>(1 + random.below(3)) : 0;
    for (auto& cell : operation.cells) cell = static_cast<std::uint8_t>(random.below(cell_count));
    return operation;
  }

  Buffer apply(Bytes bytes, const Context& context) override {
    Operation operation;
    std::memcpy(&operation, bytes.data(), sizeof operation);
    Random mixed(context.instance * 1'000 + context.index + context.time);
    std::uint64_t sum = mixed.next();
    if (operation.all) {
      for (auto& cell : cells_) sum = Random(sum ^ cell).next();
      for (auto& cell : cells_) cell += sum;
    }
    for (int i = 0; i < operation.read_count; ++i) {
      sum = Random(sum ^ cells_[operation.cells[i]]).next();
    }
    for (int i = 0; i < operation.write_count; ++i) {
      cells_[operation.cells[7 - i]] += sum;
    }
    Buffer reply;
    reply.append(&sum, sizeof sum);
    reply.resize(reply.size() + std::size_t{operation.padding} * 1'024);
    std::fill(reply.data() + sizeof sum, reply.data() + reply.size(), std::byte{1});
    return reply;
  }

  Buffer query(Bytes) const override { return {}; }

  Keys keys(Bytes bytes) const override {
    Operation operation;
    std::memcpy(&operation, bytes.data(), sizeof operation);
    Keys keys;
    keys.all = operation.all;
    for (int i = 0; i < operation.read_count; ++i) keys.reads.push_back(operation.cells[i]);
    for (int i = 0; i < operation.write_count; ++i) keys.writes.push_back(operation.cells[7 - i]);
    return keys;
  }

  Image snapshot() override {
    return [cells = cells_](const Sink& sink) { sink(std::as_bytes(std::span(cells))); };
  }

  bool restore(Bytes image) override {
    if (image.size() != cells_.size() * sizeof(std::uint64_t)) return false;
    std::memcpy(cells_.data(), image.data(), image.size());
    return true;
  }

  const std::vector<std::uint64_t>& cells() const { return cells_; }

 private:
  std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(cell_count);
};

}  // namespace piracema::smr
