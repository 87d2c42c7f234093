#pragma once

#include <piracema/codec.h>
#include <piracema/operator.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/engine.h"
#include "flow/keyed_testing.h"

/// What tests of one operator share.
namespace piracema::flow::testing {

/// Keeps what is emitted; it has one receiver.
template <class Out>
class KeptOutput final : public Output {
 public:
  KeptOutput() {
    ways_.resize(1);
    lanes_.resize(2);
    ways_[0].receivers = 1;
    ways_[0].items_limit = 1'000'000;
    ways_[0].bytes_limit = Way::no_limit;
  }
  std::vector<Out> take() {
    std::vector<Out> found;
    const Batch batch = std::exchange(lanes_[1], {});
    BatchReader reader(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      found.push_back(Codec<Out>::decode(reader.next()));
    }
    return found;
  }

 private:
  void lane_full(std::size_t) override {}
  bool skip(Bytes) override { return false; }
};

/// One replica of a block that has states by key, and what it emits.
template <class Out>
struct OneReplica {
  template <class Block>
  explicit OneReplica(const Block& block) : code(block.parts.graph.code[0]()) {
    states = code->keyed_states(nullptr);
    states->own(sixteen, {0, sixteen.count()});
    code->open({});
  }
  template <class In>
  std::vector<Out> take(const std::vector<In>& items, std::uint32_t input = 0) {
    Batch batch;
    batch.input = input;
    for (const In& item : items) batch.add(0, item);
    code->process(batch, out);
    return out.take();
  }
  std::vector<Out> come_to(EventTime come) {
    behind = code->advance(come, out);
    while (code->is_advancing()) behind = code->advance(come, out);
    return out.take();
  }
  std::vector<Out> finish() {
    code->finish(out);
    return out.take();
  }

  std::unique_ptr<Operator> code;
  KeyedStates* states = nullptr;
  KeptOutput<Out> out;
  /// How far event time is behind it.
  EventTime behind = no_event_time;
};

}  // namespace piracema::flow::testing
