#include "run/barrier/barriers.h"

#include <algorithm>

namespace piracema::runtime {

namespace {

std::size_t back_edges(const flow::ReplicaPlan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.inputs.begin(), plan.inputs.end(),
                                                [](const auto& input) { return input.back; }));
}

}  // namespace

Barriers::Barriers(const flow::ReplicaPlan& plan)
    : aligner_(plan.inputs.size()), back_log_(back_edges(plan)), back_number_(plan.inputs.size()) {
  std::size_t back = 0;
  for (std::size_t input = 0; input < plan.inputs.size(); ++input) {
    if (!plan.inputs[input].back) continue;
    back_number_[input] = back++;
    aligner_.leave_out(input);
  }
}

std::optional<SnapshotId> Barriers::on_barrier(std::size_t input, SnapshotId snapshot) {
  if (!is_back(input)) return aligner_.on_barrier(input, snapshot);
  back_log_.on_barrier(*back_number_[input], snapshot);
  return std::nullopt;
}

std::optional<SnapshotId> Barriers::on_end(std::size_t input) {
  if (!is_back(input)) return aligner_.on_end(input);
  back_log_.on_end(*back_number_[input]);
  return std::nullopt;
}

}  // namespace piracema::runtime
