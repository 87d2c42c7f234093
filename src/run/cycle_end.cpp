#include "run/cycle_end.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {
constexpr std::uint32_t all_rounds = std::numeric_limits<std::uint32_t>::max();
}

CycleEnd::CycleEnd(std::vector<bool> in_cycle, bool is_head, std::uint32_t heads)
    : is_head_(is_head),
      heads_(heads),
      in_cycle_(std::move(in_cycle)),
      inputs_(in_cycle_.size(), State::open),
      least_(all_rounds) {
  outside_open_ = static_cast<std::size_t>(std::count(in_cycle_.begin(), in_cycle_.end(), false));
}

std::optional<Probe> CycleEnd::on_end(std::size_t input) {
  if (in_cycle_[input]) {
    // A head that has ended the cycle knows that it is empty: it counts as any number of rounds.
    inputs_[input] = State::ended;
  } else {
    outside_open_ -= 1;
  }
  return advance();
}

std::optional<Probe> CycleEnd::on_probe(std::size_t input, const Probe& probe) {
  ENSURE(in_cycle_[input] && inputs_[input] != State::ended);
  inputs_[input] = State::probed;
  least_ = std::min(least_, probe.quiet);
  return advance();
}

std::optional<Probe> CycleEnd::advance() {
  if (outside_open_ != 0 || empty_) return std::nullopt;
  if (is_head_ && round_ == 0) {
    busy_ = false;
    return Probe{++round_, 0};
  }
  bool some_probed = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!in_cycle_[i]) continue;
    if (inputs_[i] == State::open) return std::nullopt;
    some_probed = some_probed || inputs_[i] == State::probed;
  }
  const std::uint32_t least = std::exchange(least_, all_rounds);
  for (State& input : inputs_) {
    if (input == State::probed) input = State::open;
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
