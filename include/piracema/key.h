#pragma once

#include <piracema/codec.h>

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace piracema {

/// How many groups the keys of a `by_key` are in, if nothing is said, and at most. Groups are what
/// is shared out among replicas: with more of them, more replicas can be used one day.
constexpr std::uint32_t key_groups_default = 1'024, key_groups_max = 32'768;

namespace detail {

/// XXH3, 64 bits, seed 0.
std::uint64_t hash_of_bytes(Bytes bytes);

// Refers to elsewhere: its own bytes are an address.
template <class T>
concept IsView = std::is_class_v<T> && std::is_trivially_copyable_v<T> && requires(const T& view) {
  view.data();
  view.size();
} && !requires {
  std::tuple_size<T>::value;
};

template <class T>
constexpr bool all_bytes_count() {
  if constexpr (!std::is_trivially_copyable_v<T>) {
    return true;  // By its Codec.
  } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || IsView<T>) {
    return false;
  } else if constexpr (requires { Codec<T>::as_in_memory; }) {
    return std::has_unique_object_representations_v<T>;
  } else {
    return true;
  }
}
template <class T>
struct ElementsOf {
  using type = T;
};
template <class T>
struct ElementsOf<std::vector<T>> {
  using type = T;
};

template <class T>
inline constexpr bool is_number_key = (std::is_integral_v<T> || std::is_enum_v<T>)&&sizeof(T) <= 8;
template <class T>
inline constexpr bool is_real_key = std::is_floating_point_v<T> && sizeof(T) <= 8;
template <class T>
inline constexpr bool is_text_key = std::is_convertible_v<const T&, std::string_view>;

template <class T>
constexpr bool has_stable_hash() {
  if constexpr (is_number_key<T> || is_real_key<T> || is_text_key<T>) {
    return true;
  } else {
    return all_bytes_count<T>() && all_bytes_count<typename ElementsOf<T>::type>();
  }
}

}  // namespace detail

/// The hash of a key: the same for equal keys on every machine, in every process, and in every
/// later version of a program, since snapshots go by it.
///
/// - an integer, an enumeration: the number, as 64 bits with its sign
/// - a `float`, a `double`: the bits of the `double`, with one zero and one NaN
/// - a text: XXH3 (64 bits, seed 0) of its bytes
/// - any other type: the same of what `Codec` makes of it
///
/// A struct that is copied raw has a hash if all of its bytes count: no padding, no pointer. For
/// other types specialise it:
///
///     template <>
///     struct piracema::KeyHash<Place> {
///       static std::uint64_t of(const Place& place);
///     };
template <class Key>
struct KeyHash {
  static constexpr bool known = detail::has_stable_hash<Key>();
  static_assert(known,
                "a key needs a hash that is the same on every machine: give a number, a text, or a "
                "type all of whose bytes count (no padding, no pointer), or specialise "
                "piracema::KeyHash for the type of the key");

  static std::uint64_t of(const Key& key) {
    if constexpr (detail::is_number_key<Key>) {
      return static_cast<std::uint64_t>(key);
    } else if constexpr (detail::is_real_key<Key>) {
      const auto value = static_cast<double>(key);
      if (value != value) return 0x7FF8000000000000u;
      return value == 0 ? 0 : std::bit_cast<std::uint64_t>(value);
    } else if constexpr (detail::is_text_key<Key>) {
      return detail::hash_of_bytes(as_bytes(std::string_view(key)));
    } else if constexpr (known) {
      if constexpr (requires { Codec<Key>::as_in_memory; }) {
        return detail::hash_of_bytes({reinterpret_cast<const std::byte*>(&key), sizeof key});
      } else {
        Buffer bytes;
        Codec<Key>::encode(key, bytes);
        return detail::hash_of_bytes(bytes);
      }
    } else {
      return 0;
    }
  }
};

namespace detail {

/// The order in which keys are shown: by `<`, or else by what Codec makes of them.
template <class Key>
bool comes_before(const Key& a, const Key& b) {
  if constexpr (requires {
                  { a < b } -> std::convertible_to<bool>;
                }) {
    return a < b;
  } else {
    Buffer first, second;
    Codec<Key>::encode(a, first);
    Codec<Key>::encode(b, second);
    return as_text(first) < as_text(second);
  }
}

}  // namespace detail

namespace engine {

/// Spreads the bits of a hash, so that keys which are small numbers do not share a replica.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Groups of keys, from `first` up to `end` without it.
struct GroupRange {
  std::uint32_t first = 0, end = 0;
  bool has(std::uint32_t group) const { return group >= first && group < end; }
  std::uint32_t count() const { return end - first; }
  bool operator==(const GroupRange&) const = default;
};

/// How the keys of a `by_key` are shared out: the group is the top bits of the mixed hash, and each
/// of the receivers has as many groups as the others, one behind the other.
class KeyGroups {
 public:
  constexpr KeyGroups() = default;
  /// `count` is a power of two from 2 to `key_groups_max`.
  explicit constexpr KeyGroups(std::uint32_t count)
      : bits_(static_cast<std::uint32_t>(std::countr_zero(count))) {}

  static constexpr bool is_count(std::uint32_t count) {
    return count >= 2 && count <= key_groups_max && std::has_single_bit(count);
  }

  std::uint32_t count() const { return std::uint32_t{1} << bits_; }
  std::uint32_t bits() const { return bits_; }
  std::uint32_t group_of(std::uint64_t mixed) const {
    return static_cast<std::uint32_t>(mixed >> (64 - bits_));
  }
  /// Of so many receivers the one that has the key with this mixed hash.
  std::size_t receiver_of(std::uint64_t mixed, std::size_t receivers) const {
    return static_cast<std::size_t>(group_of(mixed) * std::uint64_t{receivers} >> bits_);
  }
  /// What receiver `index` of `receivers`, which are no more than groups, has.
  GroupRange range_of(std::uint32_t index, std::uint32_t receivers) const {
    const auto first = [&](std::uint64_t i) {
      return static_cast<std::uint32_t>((i * count() + receivers - 1) / receivers);
    };
    return {first(index), first(index + 1)};
  }

 private:
  std::uint32_t bits_ = 10;
};

}  // namespace engine
}  // namespace piracema
