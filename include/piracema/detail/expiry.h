#pragma once

#include <piracema/operator.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace piracema::detail {

using namespace engine;

/// Code whose states by key are gone some time after they were changed last.
template <class F>
concept HasTtl = requires(const F& code) {
  { code.state_ttl() } -> std::convertible_to<std::chrono::milliseconds>;
};

/// Which states have not been changed for a time to live. The clock is that of Context::now, and
/// does not go back here; times are milliseconds since 1970.
class Expiry {
  static constexpr std::uint32_t items_for_a_look = 64;

 public:
  /// Before the first item. Throws std::invalid_argument.
  void begin(std::chrono::milliseconds ttl, std::function<WallTime()> clock) {
    if (ttl < std::chrono::milliseconds(1)) {
      throw std::invalid_argument("state_ttl(): want a time of at least 1 ms, found " +
                                  std::to_string(ttl.count()) + " ms");
    }
    ttl_ = ttl.count();
    clock_ = std::move(clock);
  }

  /// An item comes. Says now and then that it is time for a look at keys that nobody asks for.
  bool tick() {
    using std::chrono::milliseconds;
    const WallTime time = clock_ ? clock_() : std::chrono::system_clock::now();
    const auto since_1970 = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
    now_ = std::max<std::int64_t>(now_, since_1970.count());
    return ++items_ % items_for_a_look == 0;
  }

  /// A look, which may take in several pieces of a table. An item may bring a key, so a look has to
  /// find as many that are over as items come until the next one, or a table grows for ever: it
  /// goes on as long as so many `fourths` of what it sees are over. It is bounded all the same, as
  /// the item waits for it.
  class Look {
   public:
    Look(const Expiry& expiry, std::uint32_t fourths) : expiry_(expiry), fourths_(fourths) {}

    /// Of the state of a key that it sees.
    bool is_over(std::int64_t changed) {
      const bool over = expiry_.is_over(changed);
      seen_ += 1;
      over_ += over ? 1 : 0;
      return over;
    }
    /// Behind a piece: whether the next one is to be looked at, too.
    bool goes_on() {
      return ++pieces_ < pieces_max && seen_ < seen_max && 4 * over_ >= fourths_ * seen_;
    }

   private:
    static constexpr std::uint32_t pieces_max = 64, seen_max = 8 * items_for_a_look;

    const Expiry& expiry_;
    const std::uint32_t fourths_;
    std::uint32_t seen_ = 0, over_ = 0, pieces_ = 0;
  };

  std::int64_t now() const { return now_; }
  /// Of a state that was changed then last; 0: it was not yet.
  bool is_over(std::int64_t changed) const { return changed != 0 && now_ - changed >= ttl_; }

 private:
  std::int64_t ttl_ = 0, now_ = 0;
  std::function<WallTime()> clock_;
  std::uint32_t items_ = 0;
};

}  // namespace piracema::detail
