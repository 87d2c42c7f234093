#include <piracema/batch.h>
#include <piracema/codec.h>

#include <cereal/types/map.hpp>
#include <doctest/doctest.h>

#include <map>
#include <string>

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

TEST_CASE("a batch whose lengths lie is not read past its end") {
  Batch batch;
  batch.add(0, std::string("hello"));
  const std::uint32_t lie = 1'000'000;
  std::memcpy(batch.data.data(), &lie, sizeof lie);
  BatchReader items(batch);
  CHECK_THROWS_AS(items.next(), DecodeError);
}
