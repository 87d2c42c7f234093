#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "council/group_state.h"

namespace piracema::council {

/// Which coordinator has been silent for so long that another one has to take its seat, as the one
/// that leads sees it. Pure.
class Silence {
 public:
  /// Far beyond what a busy machine or a short cut costs: nothing waits for it, as the others lead
  /// and follow meanwhile.
  static constexpr std::chrono::seconds silent_max{10};
  /// After an attempt that failed: at first, and at most.
  static constexpr std::chrono::seconds pause_min{10}, pause_max{300};
  /// Who looks seldomer was stopped itself, and says nothing of others for that time.
  static constexpr std::chrono::seconds look_within{1};

  /// Of whoever leads, which is never silent.
  explicit Silence(std::uint32_t leader) : leader_(leader) {}

  /// A seat whose coordinator is to be replaced now. The first look begins the silence of all.
  std::optional<std::size_t> look(Time now, const Standing& standing);
  /// That one could not be: it is tried again after a pause, which doubles each time.
  void failed(Time now, std::size_t seat);

 private:
  struct Known {
    std::uint32_t id = 0;
    std::uint64_t heard = 0;
    Time since{}, not_before{};
    Time pause = pause_min;
  };

  const std::uint32_t leader_;
  std::optional<Time> looked_at_;
  /// By seat.
  std::vector<Known> known_;
};

}  // namespace piracema::council
