#include "run/barrier/cycle_end.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {
constexpr std::uint32_t all_rounds = std::numeric_limits<std::uint32_t>::max();
}

CycleEnd::CycleEnd(std::vector<bool> in_cycle, bool is_head, std::uint32_t heads)
    : is_head_(is_head), heads_(heads) {
  for (const bool belongs : in_cycle) {
    inputs_.push_back({.in_cycle = belongs});
    if (!belongs) outside_open_ += 1;
  }
}

std::optional<Probe> CycleEnd::on_end(std::size_t input) {
  if (inputs_[input].in_cycle) {
    // A head that has ended the cycle knows that it is empty: it counts as any number of rounds.
    inputs_[input].ended = true;
  } else {
    outside_open_ -= 1;
  }
  return advance();
}

std::optional<Probe> CycleEnd::on_probe(std::size_t input, const Probe& probe) {
  ENSURE(inputs_[input].in_cycle && !inputs_[input].ended);
  inputs_[input].probes.push_back(probe.quiet);
  return advance();
}

std::optional<Probe> CycleEnd::advance() {
  if (outside_open_ != 0 || empty_) return std::nullopt;
  if (is_head_ && round_ == 0) {
    busy_ = false;
    return Probe{++round_, 0};
  }
  bool some_probed = false;
  for (const Input& input : inputs_) {
    if (!input.in_cycle) continue;
    if (input.probes.empty() && !input.ended) return std::nullopt;
    some_probed = some_probed || !input.probes.empty();
  }
  std::uint32_t least = all_rounds;
  for (Input& input : inputs_) {
    if (input.probes.empty()) continue;
    least = std::min(least, input.probes.front());
    input.probes.pop_front();
  }
  if (!is_head_) {
    if (!some_probed) return std::nullopt;  // All have ended, and so will this replica.
    return Probe{++round_, least};
  }
  quiet_ = std::exchange(busy_, false) ? 0 : std::min(least, quiet_) + 1;
  if (quiet_ >= heads_ || !some_probed) {
    empty_ = true;
    return std::nullopt;
  }
  return Probe{++round_, quiet_};
}

}  // namespace piracema::runtime
