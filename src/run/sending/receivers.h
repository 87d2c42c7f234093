#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run/packet/packet.h"

namespace piracema::runtime {

/// The receivers of one output, by their index there: who has asked for batches and who has how
/// many of them to do, and who of them gets the next one. Nobody gets a batch without a credit of
/// its own. Pure.
class Receivers {
 public:
  /// Who gets what any of them may get.
  enum class Choice : std::uint8_t { least_busy, round_robin };

  /// `near`, for each receiver: it is in the same process.
  Receivers(const std::vector<bool>& near, Choice choice);

  std::size_t size() const { return receivers_.size(); }

  void on_credit(std::size_t receiver, const Credit& credit);

  // ---- each takes the credits of who gets a batch, or none
  /// Who gets it that any of them may get; none if nobody may who has asked.
  std::optional<std::size_t> take_any();
  bool take(std::size_t receiver);
  /// One of each.
  bool take_all();

  /// Somebody may get a batch.
  bool some_asked() const;
  /// It may get a batch and has none to do.
  bool is_idle(std::size_t receiver) const {
    return receivers_[receiver].credits != 0 && receivers_[receiver].outstanding == 0;
  }
  /// Somebody has got a batch and not yet said to have done it.
  bool some_busy() const;

 private:
  struct Receiver {
    std::uint32_t credits = 0;
    /// Batches that it has got and not yet said to have done.
    std::uint64_t outstanding = 0;
    bool near = false;

    /// What counts when somebody is chosen: with as little to do, one that is near goes first.
    std::uint64_t load() const { return outstanding + (near ? 0 : 1); }
  };

  std::optional<std::size_t> least_busy() const;
  std::optional<std::size_t> next_in_turn() const;
  void spend(Receiver& receiver) {
    receiver.credits -= 1;
    receiver.outstanding += 1;
  }

  std::vector<Receiver> receivers_;
  const Choice choice_;
  /// Whose turn it is; by round robin those of the same process have a turn of their own.
  std::size_t turn_ = 0;
  std::size_t near_turn_ = 0;
};

}  // namespace piracema::runtime
