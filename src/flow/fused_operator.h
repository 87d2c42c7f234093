#pragma once

#include <piracema/operator.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/engine.h"

namespace piracema::flow {

/// Operators that call each other: each brings what it emits to the next one, item by item,
/// without a batch between them (paper 004, section 2: node combiner).
class FusedOperator final : public Operator {
 public:
  struct Part {
    /// Of its node, as its code knows it.
    std::string node;
    std::function<std::unique_ptr<Operator>()> make;
  };
  /// At least two parts; all but the first can be called item by item.
  explicit FusedOperator(const std::vector<Part>& parts);

  void open(const Context& context) override;
  void process(Batch& batch, Output& output) override;
  Produced produce(Output& output) override;
  void finish(Output& output) override;
  bool has_timer() const override;
  std::optional<WallTime> next_timer() const override;
  void on_timer(WallTime now, Output& output) override;
  EventTime advance(EventTime come, Output& output) override;
  bool is_advancing() const override;
  bool gives_event_time() const override;
  std::optional<std::chrono::nanoseconds> idle_after() const override;
  void idle(WallTime now) override;
  std::uint64_t items_late() const override;
  void save(Buffer& out) override;
  void load(Bytes in) override;
  KeyedStates* keyed_states(StatePlace* place) override {
    return parts_.front()->keyed_states(place);
  }
  std::string layout() override;
  std::string layout_of_items(std::uint32_t input) const override {
    return parts_.front()->layout_of_items(input);
  }
  void prepare(std::uint64_t snapshot) override;
  void commit(std::uint64_t snapshot) override;
  void restored(std::uint64_t snapshot) override;
  double progress() const override;

 private:
  std::vector<std::string> nodes_;
  std::vector<std::unique_ptr<Operator>> parts_;
};

}  // namespace piracema::flow
