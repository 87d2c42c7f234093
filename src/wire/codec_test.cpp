#include <doctest/doctest.h>
#include <piracema/batch.h>
#include <piracema/codec.h>

#include <array>
#include <cereal/types/map.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/engine.h"

using namespace piracema;

namespace {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

struct Person {
  std::string name;
  std::map<std::string, int> marks;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, marks);
  }
  bool operator==(const Person&) const = default;
};

template <class T>
T there_and_back(const T& value) {
  Buffer bytes;
  Codec<T>::encode(value, bytes);
  return Codec<T>::decode(bytes);
}

}  // namespace

TEST_CASE("values of every kind come back as they were") {
  CHECK(there_and_back(42) == 42);
  CHECK(there_and_back(Point{1.5, -2}) == Point{1.5, -2});
  CHECK(there_and_back(std::string("\0x", 2)) == std::string("\0x", 2));
  CHECK(there_and_back(std::vector<Point>{{1, 2}, {3, 4}}) == std::vector<Point>{{1, 2}, {3, 4}});
  CHECK(there_and_back(std::vector<std::string>{"a", ""}) == std::vector<std::string>{"a", ""});
  CHECK(there_and_back(Person{"Ada", {{"maths", 1}}}) == Person{"Ada", {{"maths", 1}}});
}

TEST_CASE("trivially copyable values travel raw, without a length") {
  CHECK(Codec<Point>::fixed_bytes == 16);
  CHECK(Codec<std::string>::fixed_bytes == 0);
}

TEST_CASE("bytes that are no such value are refused, with what was wanted") {
  const std::string three = "abc";
  CHECK_THROWS_WITH_AS(Codec<int>::decode(as_bytes(three)),
                       "a value of 4 bytes was wanted, 3 bytes were found", DecodeError);
  CHECK_THROWS_AS(Codec<Person>::decode(as_bytes(three)), DecodeError);
  CHECK_THROWS_AS(Codec<std::vector<int>>::decode(as_bytes(three)), DecodeError);
}

TEST_CASE("a cereal value that is cut short anywhere is refused") {
  Buffer bytes;
  Codec<Person>::encode({"Ada", {{"maths", 1}, {"music", 2}}}, bytes);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(Codec<Person>::decode(Bytes(bytes).first(length)), DecodeError);
  }
}

TEST_CASE("items of a batch are read back in order, with their identifiers") {
  Batch batch;
  batch.add(10, std::string("ten"));
  batch.add(11, std::string(""));
  batch.add(40, std::string("forty"));
  BatchReader items(batch);
  CHECK(as_text(items.next()) == "ten");
  CHECK(as_text(items.next()).empty());
  CHECK(as_text(items.next()) == "forty");
  CHECK(batch.id(0) == 10);
  CHECK(batch.id(1) == 11);
  CHECK(batch.id(2) == 40);
}

TEST_CASE("identifiers that count upwards take no room") {
  Batch batch;
  for (std::uint64_t id = 7; id < 100; ++id) batch.add(id, 1.0);
  CHECK(batch.ids.empty());
  CHECK(batch.id(92) == 99);
  CHECK(batch.data.size() == 93 * sizeof(double));
}

TEST_CASE("an item that is made in its batch lies there like one that was added") {
  using Words = std::array<std::uint64_t, 9>;
  const auto words = [](std::uint64_t from) {
    Words all{};
    for (std::uint64_t& word : all) word = from++;
    return all;
  };
  Batch added, made;
  // Enough of them for the memory to grow and move.
  for (std::uint64_t id = 5; id < 1'000; ++id) {
    added.add(id, words(id));
    made.add_made<Words>(id, [&] { return words(id); });
  }
  CHECK(made.count == added.count);
  CHECK(made.item_bytes == added.item_bytes);
  CHECK(made.first_id == added.first_id);
  CHECK(made.ids.empty());
  CHECK(as_text(made.data) == as_text(added.data));
}

TEST_CASE("what may not be there is made in its batch as well, or leaves it as it was") {
  Batch batch;
  for (std::uint64_t id = 0; id < 100; ++id) {
    const bool there = batch.add_made<std::uint64_t>(
        id, [&] { return id % 3 == 0 ? std::optional<std::uint64_t>(id * id) : std::nullopt; });
    CHECK(there == (id % 3 == 0));
  }
  REQUIRE(batch.count == 34);
  BatchReader items(batch);
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    CHECK(batch.id(i) == 3 * i);
    CHECK(Codec<std::uint64_t>::decode(items.next()) == 9 * i * i);
  }
}

TEST_CASE("what throws while it is made leaves nothing in its batch") {
  Batch batch;
  const auto throws = []() -> double { throw std::runtime_error("no"); };
  CHECK_THROWS_AS(batch.add_made<double>(9, throws), std::runtime_error);
  CHECK(batch.count == 0);
  CHECK(batch.data.empty());
  batch.add_made<double>(1, [] { return 0.5; });
  CHECK_THROWS_AS(batch.add_made<double>(7, throws), std::runtime_error);
  batch.add_made<double>(2, [] { return 1.5; });
  CHECK(batch.count == 2);
  CHECK(batch.data.size() == 2 * sizeof(double));
  CHECK(batch.id(1) == 2);
}

TEST_CASE("a batch whose lengths lie is not read past its end") {
  Batch batch;
  batch.add(0, std::string("hello"));
  const std::uint32_t lie = 1'000'000;
  std::memcpy(batch.data.data(), &lie, sizeof lie);
  BatchReader items(batch);
  CHECK_THROWS_AS(items.next(), DecodeError);
}
