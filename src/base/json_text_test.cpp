#include "base/json_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

std::string why_not(std::string_view text) {
  const auto parsed = parse_json(text);
  return parsed ? "" : parsed.error().message;
}

}  // namespace

TEST_CASE("values are read with their places") {
  const auto parsed =
      parse_json("{\n  \"a\": [1, -2.5e1, true, null],\n  \"b\" : \"x\\n\\u00e4\"}");
  REQUIRE(parsed.ok());
  const auto& members = std::get<JsonValue::Object>(parsed->value);
  REQUIRE(members.size() == 2);
  CHECK(members[0].name == "a");
  CHECK(to_text(members[0].place) == "2:3");
  const auto& values = std::get<JsonValue::Array>(members[0].value.value);
  REQUIRE(values.size() == 4);
  CHECK(std::get<double>(values[1].value) == -25);
  CHECK(to_text(values[1].place) == "2:12");
  CHECK(std::get<bool>(values[2].value));
  CHECK(std::string(values[3].kind()) == "null");
  CHECK(std::get<std::string>(members[1].value.value) == "x\n\xC3\xA4");
}

TEST_CASE("what is no JSON is told with line and column") {
  CHECK(why_not("") == "1:1: want a value, found the end");
  CHECK(why_not("{\"a\": 1,\n\"a\": 2}") == "2:1: want each name once, found 'a' again");
  CHECK(why_not("{\"a\" 1}") == "1:6: want ':', found '1'");
  CHECK(why_not("{\n \"a\": 1 \"b\": 2}") == "2:9: want ',' or '}', found '\"'");
  CHECK(why_not("[1,]") == "1:4: want a value, found ']'");
  CHECK(why_not("{a: 1}") == "1:2: want a name in quotes, found 'a'");
  CHECK(why_not("\"abc") == "1:5: want '\"', found the end");
  CHECK(why_not("\"\\x\"").starts_with("1:3: want one of"));
  CHECK(why_not("\"\\ud800\"").find("second half") != std::string::npos);
  CHECK(why_not("01") == "1:2: want the end, found '1'");
  CHECK(why_not("-") == "1:2: want a digit, found the end");
  CHECK(why_not("1e999").find("want a number") != std::string::npos);
  CHECK(why_not("nul") == "1:1: want a value, found 'n'");
  CHECK(why_not("{} x") == "1:4: want the end, found 'x'");
  CHECK(why_not(std::string(100, '[')).find("at most 64 levels") != std::string::npos);
  CHECK(why_not(std::string_view("\0", 1)) == "1:1: want a value, found byte 0");
}

TEST_CASE("whatever is done to a text, it is read or refused") {
  const std::string text =
      R"({"protocol": "MPI", "groups": [{"name": "G1", "batchSize": 10.5e-1}]})";
  Random random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = text;
    for (std::uint64_t i = random.below(4); i < 4; ++i) {
      const std::size_t at = random.below(changed.size());
      if (random.chance(0.3))
        changed.erase(at, 1 + random.below(8));
      else if (random.chance(0.5))
        changed[at] = static_cast<char>(random.next());
      else
        changed.insert(at, changed.substr(random.below(changed.size()), random.below(9)));
      if (changed.empty()) changed = "{";
    }
    const auto parsed = parse_json(changed);
    if (!parsed) CHECK(parsed.error().code == Errc::config);
  }
}
