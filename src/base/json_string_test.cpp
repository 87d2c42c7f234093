#include "base/json_string.h"

#include <doctest/doctest.h>

#include <random>

#include "base/json_text.h"

using namespace piracema;

TEST_CASE("a text is quoted as JSON wants it") {
  CHECK(json_string("") == "\"\"");
  CHECK(json_string("a \"b\" \\ c") == R"("a \"b\" \\ c")");
  CHECK(json_string("tab\tline\n") == R"("tab\u0009line\u000a")");
}

TEST_CASE("characters of UTF-8 stay") {
  for (const char* text : {"ä", "€", "𝄞", "\xf4\x8f\xbf\xbf"}) {
    CHECK(json_string(text) == std::string("\"") + text + "\"");
  }
}

TEST_CASE("bytes that are not UTF-8 are written as hex digits") {
  CHECK(json_string("\xff") == R"("\\xff")");
  CHECK(json_string("a\xc3") == R"("a\\xc3")");                  // Cut short.
  CHECK(json_string("\xc0\xaf") == R"("\\xc0\\xaf")");           // Longer than need be.
  CHECK(json_string("\xed\xa0\x80") == R"("\\xed\\xa0\\x80")");  // Half of UTF-16.
  CHECK(json_string("\xf4\x90\x80\x80") == R"("\\xf4\\x90\\x80\\x80")");
  CHECK(json_string("\xc3x") == R"("\\xc3x")");
}

TEST_CASE("whatever the bytes are, the string can be read as JSON") {
  std::mt19937 random(7);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(random() % 12, 0);
    for (char& c : bytes) c = static_cast<char>(random());
    const auto value = cluster::parse_json(json_string(bytes));
    REQUIRE(value);
    REQUIRE(std::holds_alternative<std::string>(value->value));
  }
}
