#include "council/followed_log.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

using namespace piracema;
using namespace piracema::council;

namespace {

std::string log_of(std::initializer_list<std::pair<double, const char*>> lines) {
  auto rows = nlohmann::json::array();
  for (const auto& [at, text] : lines) {
    rows.push_back({{"at_unix", at}, {"level", "warning"}, {"text", text}});
  }
  return nlohmann::json{{"lines", rows}}.dump();
}

std::string texts(const std::vector<LoggedLine>& lines) {
  std::string all;
  for (const LoggedLine& line : lines) all += line.text + " ";
  return all;
}

}  // namespace

TEST_CASE("lines that were there at the last look are not new") {
  NewLines lines;
  const auto first = lines.of(log_of({{1, "a"}, {1, "b"}}));
  CHECK(texts(first) == "a b ");
  CHECK(first.at(0).level == Level::warning);
  CHECK(lines.of(log_of({{1, "a"}, {1, "b"}})).empty());
  CHECK(texts(lines.of(log_of({{1, "b"}, {1, "c"}, {2, "b"}}))) == "c b ");
  CHECK(lines.of(log_of({{1, "c"}, {2, "b"}})).empty());
}

TEST_CASE("all lines of another log are new, and all of one that has gone on for too long") {
  NewLines lines;
  lines.of(log_of({{5, "a"}}));
  CHECK(texts(lines.of(log_of({{4, "x"}, {4.5, "y"}}))) == "x y ");
  CHECK(texts(lines.of(log_of({{9, "y"}, {10, "z"}}))) == "y z ");
}

TEST_CASE("what is no log has no lines, and nothing is forgotten for it") {
  NewLines lines;
  const std::string log = log_of({{1, "a"}});
  lines.of(log);
  for (const char* other : {"", "{", "[]", "{}", R"({"lines":1})", R"({"lines":[1]})", "null"}) {
    CHECK(lines.of(other).empty());
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    std::string changed = log;
    changed[random() % changed.size()] = static_cast<char>(random());
    NewLines().of(changed);
  }
  CHECK(lines.of(log).empty());
}
