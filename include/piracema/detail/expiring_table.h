#pragma once

#include <piracema/codec.h>
#include <piracema/detail/expiry.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_table.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace piracema::detail {

/// A state, and when it was changed last: milliseconds since 1970; 0: it was not yet.
template <class V>
struct Timed {
  std::int64_t changed = 0;
  V value{};
};

/// The state without the time.
template <class V>
struct Untimed {
  using type = V;
};
template <class V>
struct Untimed<Timed<V>> {
  using type = V;
};

/// The states of keys in a table `Base` of Timed<V>, each of which is there until nobody has
/// changed it for a time to live. What has expired is not seen any more; its room is given back
/// little by little, by items of any key.
template <class Base, class Key, class V>
class Expiring : public Base {
 public:
  /// Before the first item. Throws std::invalid_argument.
  void expire_after(std::chrono::milliseconds ttl, std::function<WallTime()> clock) {
    expiry_.begin(ttl, std::move(clock));
  }

  /// An item comes: how late it is, and now and then a look at keys that nobody asks for.
  void tick() {
    if (!expiry_.tick()) return;
    Expiry::Look look(expiry_, Base::sweep_fourths);
    const auto is_over = [&look](const Timed<V>& one) { return look.is_over(one.changed); };
    while (Base::sweep(is_over) && look.goes_on()) {
    }
  }

  template <class K>
  V& edit(const K& key, std::uint64_t mixed) {
    Timed<V>& one = Base::edit(key, mixed);
    if (expiry_.is_over(one.changed)) one.value = V{};
    one.changed = expiry_.now();
    return one.value;
  }
  template <class K>
  const V* find(const K& key, std::uint64_t mixed) {
    const Timed<V>* one = Base::find(key, mixed);
    return one == nullptr || expiry_.is_over(one->changed) ? nullptr : &one->value;
  }
  template <class Use>
  void for_each(const Use& use) {
    tick();
    Base::for_each([&](const Key& key, Timed<V>& one) {
      if (!expiry_.is_over(one.changed)) use(key, one.value);
    });
  }

 private:
  Expiry expiry_;
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
