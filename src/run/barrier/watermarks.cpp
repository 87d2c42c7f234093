#include "run/barrier/watermarks.h"

#include <algorithm>
#include <optional>

namespace piracema::runtime {

Watermarks::Watermarks(const flow::ReplicaPlan& plan) : inputs_(plan.inputs.size()) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].counts = !plan.inputs[i].back;
}

void Watermarks::on_watermark(std::size_t input, EventTime come) {
  inputs_[input].come = std::max(inputs_[input].come, come);
  look();
}

void Watermarks::on_end(std::size_t input) {
  inputs_[input].counts = false;
  look();
}

void Watermarks::look() {
  std::optional<EventTime> least;
  for (const Input& input : inputs_) {
    if (input.counts) least = std::min(least.value_or(input.come), input.come);
  }
  if (least) come_ = std::max(come_, *least);
}

}  // namespace piracema::runtime
