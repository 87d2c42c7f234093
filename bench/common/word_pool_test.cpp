#include "bench/common/word_pool.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <unordered_map>

using namespace piracema::bench;

TEST_CASE("lines are words with blanks between them, some of which are frequent") {
  std::unordered_map<std::string, std::size_t> counts;
  std::size_t words = 0, most = 0;
  for (const Line& line : word_pool()) {
    CHECK(line.front() != ' ');
    std::istringstream in(std::string(line.data(), line.size()));
    for (std::string word; in >> word; ++words) most = std::max(most, ++counts[word]);
  }
  CHECK(word_pool().size() == 65'536);
  CHECK(words / word_pool().size() == 15);
  CHECK(counts.size() > 10'000);
  CHECK(most > words / 50);
}
