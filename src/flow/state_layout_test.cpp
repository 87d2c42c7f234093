#include <doctest/doctest.h>
#include <piracema/detail/state_layout.h>

#include <cereal/types/array.hpp>
#include <cereal/types/atomic.hpp>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/set.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/unordered_map.hpp>
#include <cereal/types/valarray.hpp>
#include <cereal/types/variant.hpp>
#include <stdexcept>

using piracema::detail::StateLayout;

namespace {

template <class T>
struct Hold {
  T value{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
};
template <class T>
std::string state(T object = {}) {
  StateLayout layout;
  layout.read(object);
  return layout.text();
}
template <class T>
std::string member() {
  return state<Hold<T>>();
}
template <class T>
std::string item() {
  StateLayout layout;
  layout.encoded<T>();
  return layout.text();
}

struct Tree {
  int value = 0;
  std::unique_ptr<Tree> left, right;
  std::vector<Tree> more;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value, left, right, more);
  }
};
template <class First, class Second>
struct Two {
  First first{};
  Second second{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive& first;
    archive(second);
  }
};
template <bool swapped>
struct Named {
  int a = 0, b = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    if (swapped) {
      archive(CEREAL_NVP(b), CEREAL_NVP(a));
    } else {
      archive(CEREAL_NVP(a), CEREAL_NVP(b));
    }
  }
};
// `save` is for a state that `start` has begun: the layout is read, not written.
struct Begun {
  std::unique_ptr<std::int64_t> index;
  template <class Archive>
  void save(Archive& archive) const {
    archive(*index);
  }
  template <class Archive>
  void load(Archive& archive) {
    index = std::make_unique<std::int64_t>();
    archive(*index);
  }
};
class Befriended {
 private:
  friend class cereal::access;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number_);
  }
  short number_ = 0;
};
struct Versions {
  int first = 0;
  std::string later;
  template <class Archive>
  void serialize(Archive& archive, std::uint32_t version) {
    archive(first);
    if (version > 0) archive(later);
  }
};
struct Minimal {
  int value = 0;
  template <class Archive>
  int save_minimal(const Archive&) const {
    return value;
  }
  template <class Archive>
  void load_minimal(const Archive&, const int& from) {
    value = from;
  }
};
struct Base {
  std::int64_t number = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number);
  }
};
struct Derived : Base {
  char letter = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<Base>(this), letter);
  }
};
struct OneArchive {
  int value = 0;
  void serialize(cereal::BinaryOutputArchive& archive) { archive(value); }
  void serialize(cereal::BinaryInputArchive& archive) { archive(value); }
};
struct ByHand {
  std::map<int, float> all;
  template <class Archive>
  void save(Archive& archive) const {
    archive(cereal::make_size_tag(static_cast<cereal::size_type>(all.size())));
    for (const auto& [key, value] : all) archive(key, value);
  }
  template <class Archive>
  void load(Archive& archive) {
    cereal::size_type count = 0;
    archive(cereal::make_size_tag(count));
    for (; count > 0; --count) {
      int key;
      float value;
      archive(key, value);
      all[key] = value;
    }
  }
};
struct Raw {
  double numbers[4];
  char text[8];
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::binary_data(numbers, sizeof numbers));
    if constexpr (Archive::is_loading::value) {
      archive.loadBinary(text, sizeof text);
    } else {
      archive.saveBinary(text, sizeof text);
    }
  }
};
struct Particular {
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive& archive) {
    int width = 1;
    archive(width);
    if (width == 0) throw std::runtime_error("want a width");
    archive(width);
  }
};
struct Endless {
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive& archive) {
    for (int mark = 0; mark != 1;) archive(mark);
  }
};
enum class Colour : std::uint8_t { red };
struct Pixel {
  std::int64_t place;
  std::int32_t colour;
};

}  // namespace

TEST_CASE("numbers are told by size and sign, whatever they are called") {
  CHECK(member<std::int64_t>() == "{i64}");
  CHECK(member<long>() == member<long long>());
  CHECK(member<std::int32_t>() == "{i32}");
  CHECK(member<std::uint32_t>() == "{u32}");
  CHECK(member<float>() == "{f32}");
  CHECK(member<bool>() == "{bool}");
  CHECK(member<char>() == "{i8}");
  CHECK(member<Colour>() == "{u8}");
  CHECK(member<int[3][2]>() == "{i32 * 6}");
}

TEST_CASE("containers are told by their elements, empty or not") {
  CHECK(member<std::map<std::string, std::int64_t>>() == "{map(string, i64)}");
  CHECK(member<std::map<std::string, std::int32_t>>() == "{map(string, i32)}");
  CHECK(member<std::unordered_map<int, std::vector<Tree>>>() ==
        "{map(i32, list({i32, pointer(^), pointer(^), list(^)}))}");
  CHECK(member<std::set<std::pair<int, double>>>() == "{list((i32, f64))}");
  CHECK(member<std::vector<bool>>() == "{list(bool)}");
  CHECK(member<std::array<short, 3>>() == "{i16 * 3}");
  CHECK(member<std::tuple<int, std::string>>() == "{(i32, string)}");
  CHECK(member<std::optional<float>>() == "{optional(f32)}");
  CHECK(member<std::variant<int, std::string, Base>>() == "{variant(i32, string, {i64})}");
  CHECK(member<std::bitset<12>>() == "{bool * 12}");
  CHECK(member<std::shared_ptr<Base>>() == "{pointer({i64})}");
  CHECK(member<std::chrono::milliseconds>() == "{i64 * 1/1000 s}");
  CHECK(member<std::chrono::microseconds>() == "{i64 * 1/1000000 s}");
  CHECK(member<std::queue<int>>() == "{{container: list(i32)}}");
  CHECK(member<std::atomic<int>>() == "{{atomic_data: i32}}");
  CHECK(member<std::valarray<float>>() == "{{size, f32}}");
  Hold<std::map<int, int>> full{{{1, 2}, {3, 4}}};
  CHECK(state(full) == "{map(i32, i32)}");
}

TEST_CASE("members are told in their order: two of different types that change places are seen") {
  CHECK(state<Two<int, std::string>>() == "{i32, string}");
  CHECK(state<Two<std::string, int>>() == "{string, i32}");
  CHECK(member<Two<int, int>>() == "{{i32, i32}}");
}

TEST_CASE("two of one type that change places are seen where they have names") {
  CHECK(state<Named<false>>() == "{a: i32, b: i32}");
  CHECK(state<Named<true>>() == "{b: i32, a: i32}");
}

TEST_CASE("every way to write a state for cereal is told") {
  CHECK(state<Begun>() == "{i64}");
  CHECK(state<Befriended>() == "{i16}");
  CHECK(state<Versions>() == "{cereal_class_version: u32, i32}");
  CHECK(state<Minimal>() == "{i32}");
  CHECK(state<Derived>() == "{{i64}, i8}");
  CHECK(state<ByHand>() == "{size, i32, f32}");
  CHECK(state<Raw>() == "{list(f64), bytes}");
  CHECK(state<Tree>() == "{i32, pointer(^), pointer(^), list(^)}");
}

TEST_CASE("what cannot be looked into is told by its name") {
  CHECK(state<OneArchive>().find("OneArchive") != std::string::npos);
  CHECK(member<OneArchive>().find("OneArchive") != std::string::npos);
}

TEST_CASE("code that cannot live with zeros is told up to there, and code without end ends") {
  CHECK(state<Particular>() == "{i32...");
  CHECK(state<Endless>().size() < 100'000);
}

TEST_CASE("items are told as they are encoded") {
  CHECK(item<std::int64_t>() == "i64");
  CHECK(item<Pixel>() == "16 bytes");
  CHECK(item<std::string>() == "string");
  CHECK(item<std::vector<Pixel>>() == "list(16 bytes)");
  CHECK(item<std::vector<std::string>>() == "list(string)");
  CHECK(item<Base>() == "8 bytes");
  CHECK(item<std::map<int, Base>>() == "map(i32, {i64})");
  CHECK(item<piracema::Buffer>() == "piracema::Buffer");
}
