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

  std::int64_t now() const { return now_; }
  /// Of a state that was changed then last; 0: it was not yet.
  bool is_over(std::int64_t changed) const { return changed != 0 && now_ - changed >= ttl_; }

 private:
  /// One segment each: all of a table is looked at while a fraction of its keys come.
  static constexpr std::uint32_t items_for_a_look = 64;

  std::int64_t ttl_ = 0, now_ = 0;
  std::function<WallTime()> clock_;
  std::uint32_t items_ = 0;
};

}  // namespace piracema::detail
