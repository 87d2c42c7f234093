#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "council/group_state.h"

namespace piracema::council {

/// Which seat another coordinator has to take, as the one that leads sees it: of one that was
/// silent for too long, or that is on a machine which all else of the job has left. Pure.
class SeatWatch {
 public:
  /// Far beyond what a busy machine or a short cut costs: nothing waits for it, as the others lead
  /// and follow meanwhile.
  static constexpr std::chrono::seconds silent_max{10};
  /// After an attempt that failed: at first, and at most.
  static constexpr std::chrono::seconds pause_min{10}, pause_max{300};
  /// Who looks seldomer was stopped itself, and says nothing of others for that time.
  static constexpr std::chrono::seconds look_within{1};

  struct Due {
    std::size_t seat = 0;
    /// Its machine is to be left; else it is silent.
    bool leaves = false;
    bool operator==(const Due&) const = default;
  };

  /// Of whoever leads, which is never silent, and leaves its machine last.
  explicit SeatWatch(std::uint32_t leader) : leader_(leader) {}

  /// A seat whose coordinator is to be replaced now. The first look begins the silence of all.
  /// `left` are the addresses of machines that the job is to leave, and has but for coordinators.
  std::optional<Due> look(Time now, const Standing& standing, const std::set<std::string>& left);
  /// That one could not be: it is tried again after a pause, which doubles each time.
  void failed(Time now, std::size_t seat);

 private:
  std::optional<std::size_t> silent(Time now, const Standing& standing);
  std::optional<std::size_t> leaving(Time now, const Standing& standing,
                                     const std::set<std::string>& left) const;

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
