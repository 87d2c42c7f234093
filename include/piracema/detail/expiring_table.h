#pragma once

#include <piracema/codec.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_table.h>
#include <piracema/operator.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace piracema::detail {

/// Code whose states by key are gone some time after they were changed last.
template <class F>
concept HasTtl = requires(const F& code) {
  { code.state_ttl() } -> std::convertible_to<std::chrono::milliseconds>;
};

/// A state, and when it was changed last: milliseconds since 1970; 0: it was not yet.
template <class V>
struct Timed {
  std::int64_t changed = 0;
  V value{};
};

/// The states of keys in a table `Base` of Timed<V>, each of which is there until nobody has
/// changed it for a time to live. What has expired is not seen any more; its room is given back
/// little by little, by items of any key. The clock is that of Context::now, and does not go back
/// here.
template <class Base, class Key, class V>
class Expiring : public Base {
 public:
  /// Before the first item. Throws std::invalid_argument.
  void expire_after(std::chrono::milliseconds ttl, std::function<WallTime()> clock) {
    if (ttl < std::chrono::milliseconds(1)) {
      throw std::invalid_argument("state_ttl(): want a time of at least 1 ms, found " +
                                  std::to_string(ttl.count()) + " ms");
    }
    ttl_ = ttl.count();
    clock_ = std::move(clock);
  }

  /// An item comes: how late it is, and now and then a look at keys that nobody asks for.
  void tick() {
    using std::chrono::milliseconds;
    const WallTime time = clock_ ? clock_() : std::chrono::system_clock::now();
    const auto since_1970 = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
    now_ = std::max<std::int64_t>(now_, since_1970.count());
    if (++items_ % items_for_a_look == 0) {
      Base::sweep([this](const Timed<V>& one) { return has_expired(one); });
    }
  }

  template <class K>
  V& edit(const K& key, std::uint64_t mixed) {
    Timed<V>& one = Base::edit(key, mixed);
    if (has_expired(one)) one.value = V{};
    one.changed = now_;
    return one.value;
  }
  template <class K>
  const V* find(const K& key, std::uint64_t mixed) {
    const Timed<V>* one = Base::find(key, mixed);
    return one == nullptr || has_expired(*one) ? nullptr : &one->value;
  }
  template <class Use>
  void for_each(const Use& use) {
    tick();
    Base::for_each([&](const Key& key, Timed<V>& one) {
      if (!has_expired(one)) use(key, one.value);
    });
  }

 private:
  /// One segment each: all of a table is looked at while a fraction of its keys come.
  static constexpr std::uint32_t items_for_a_look = 64;

  bool has_expired(const Timed<V>& one) const {
    return one.changed != 0 && now_ - one.changed >= ttl_;
  }

  std::int64_t ttl_ = 0, now_ = 0;
  std::function<WallTime()> clock_;
  std::uint32_t items_ = 0;
};

template <class Key, class V>
using ExpiringTable = Expiring<KeyedTable<Key, Timed<V>>, Key, V>;

template <HasBefore V>
struct FormerState<Timed<V>> {
  static constexpr bool known = true;
  static constexpr std::uint32_t count = FormerState<V>::count;
  using Before = Timed<typename V::Before>;
  static Timed<V> from(Before&& before) {
    return {before.changed, FormerState<V>::from(std::move(before.value))};
  }
};

}  // namespace piracema::detail

/// The time, and then the state as it is written by itself.
template <class V>
struct piracema::Codec<piracema::detail::Timed<V>> {
  static constexpr std::size_t time_bytes = sizeof(std::int64_t);
  static constexpr std::size_t fixed_bytes =
      Codec<V>::fixed_bytes == 0 ? 0 : time_bytes + Codec<V>::fixed_bytes;

  static void encode(const detail::Timed<V>& one, Buffer& out) {
    Codec<std::int64_t>::encode(one.changed, out);
    Codec<V>::encode(one.value, out);
  }
  static detail::Timed<V> decode(Bytes in) {
    if (in.size() < time_bytes) detail::wrong_size(time_bytes, in.size());
    return {Codec<std::int64_t>::decode(in.first(time_bytes)),
            Codec<V>::decode(in.subspan(time_bytes))};
  }
};
