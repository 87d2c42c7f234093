#include <doctest/doctest.h>
#include <piracema/key.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace piracema {

namespace {
enum class Colour : std::uint8_t { red = 1, green = 2 };
struct Cell {
  std::int32_t x, y;
};
struct Named {
  std::string name;
  std::int64_t number = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, number);
  }
};
struct Upper {
  std::string text;
};

template <class T>
std::uint64_t hash(const T& key) {
  return KeyHash<T>::of(key);
}
}  // namespace

}  // namespace piracema

template <>
struct piracema::KeyHash<piracema::Upper> {
  static std::uint64_t of(const Upper& key) { return key.text.size(); }
};

namespace piracema {

TEST_CASE("the hash of a number is the number, whatever its width") {
  CHECK(hash(7) == 7);
  CHECK(hash(std::int8_t{-1}) == ~std::uint64_t{0});
  CHECK(hash(std::int64_t{-1}) == ~std::uint64_t{0});
  CHECK(hash(~std::uint64_t{0}) == ~std::uint64_t{0});
  CHECK(hash(Colour::green) == 2);
  CHECK(hash(true) == 1);
}

// Snapshots rely on these: they must never change.
TEST_CASE("the hashes of texts and of other types are those of the format") {
  CHECK(hash(std::string()) == 0x2D06800538D394C2u);
  CHECK(hash(std::string("piracema")) == detail::hash_of_bytes(as_bytes("piracema")));
  CHECK(hash(std::string_view("piracema")) == hash(std::string("piracema")));
  const char* const text = "piracema";
  CHECK(KeyHash<const char*>::of(text) == hash(std::string("piracema")));
  const Cell cell{1, -1};
  CHECK(hash(cell) ==
        detail::hash_of_bytes(as_bytes(std::string_view("\1\0\0\0\xFF\xFF\xFF\xFF", 8))));
  CHECK(hash(std::array<std::uint8_t, 2>{1, 2}) == detail::hash_of_bytes(as_bytes("\1\2")));
  CHECK(hash(std::vector<std::uint8_t>{1, 2}) == detail::hash_of_bytes(as_bytes("\1\2")));
  CHECK(hash(std::pair<std::string, int>("a", 1)) != hash(std::pair<std::string, int>("a", 2)));
  CHECK(hash(Named{"a", 1}) == hash(Named{"a", 1}));
  CHECK(hash(Named{"a", 1}) != hash(Named{"b", 1}));
}

TEST_CASE("equal real numbers have one hash") {
  CHECK(hash(0.0) == hash(-0.0));
  CHECK(hash(1.5f) == hash(1.5));
  CHECK(hash(std::nan("1")) == hash(std::numeric_limits<float>::quiet_NaN()));
  CHECK(hash(1.5) != hash(2.5));
}

TEST_CASE("a hash of the user's own is used") { CHECK(hash(Upper{"four"}) == 4); }

TEST_CASE("a type whose bytes do not say all of it has no hash") {
  struct Padded {
    char a;
    int b;
  };
  CHECK_FALSE(detail::has_stable_hash<Padded>());
  CHECK_FALSE(detail::has_stable_hash<std::vector<Padded>>());
  CHECK_FALSE(detail::has_stable_hash<int*>());
  CHECK_FALSE(detail::has_stable_hash<Bytes>());
  CHECK_FALSE(detail::has_stable_hash<long double>());
  CHECK(detail::has_stable_hash<Cell>());
}

TEST_CASE(
    "every group has one receiver, and each receiver has as many groups as others, or one more") {
  using engine::GroupRange, engine::KeyGroups;
  for (const std::uint32_t count : {2u, 16u, 1'024u, 32'768u}) {
    const KeyGroups groups(count);
    CHECK(groups.count() == count);
    for (const std::uint32_t receivers : {1u, 2u, 3u, 7u, 1'000u}) {
      if (receivers > count) continue;
      std::uint32_t next = 0;
      bool right = true;
      for (std::uint32_t i = 0; i < receivers; ++i) {
        const GroupRange range = groups.range_of(i, receivers);
        right = right && range.first == next && range.count() >= count / receivers &&
                range.count() <= count / receivers + 1;
        for (std::uint32_t group = range.first; group < range.end; ++group) {
          const std::uint64_t mixed = std::uint64_t{group} << (64 - groups.bits());
          right = right && groups.group_of(mixed) == group &&
                  groups.receiver_of(mixed, receivers) == i &&
                  groups.receiver_of(mixed | 0xFFFF, receivers) == i;
        }
        next = range.end;
      }
      CHECK(right);
      CHECK(next == count);
    }
  }
  CHECK_FALSE(KeyGroups::is_count(0));
  CHECK_FALSE(KeyGroups::is_count(1));
  CHECK_FALSE(KeyGroups::is_count(1'000));
  CHECK_FALSE(KeyGroups::is_count(65'536));
}

}  // namespace piracema
