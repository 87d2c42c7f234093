#include "bench/common/word_pool.h"

#include <algorithm>
#include <string>

namespace piracema::bench {

namespace {

constexpr std::size_t words_count = 10'000, lines_count = 65'536;

std::vector<std::string> make_words() {
  std::vector<std::string> words;
  for (std::uint64_t w = 0; w < words_count; ++w) {
    std::uint64_t bits = splitmix(w);
    std::string word(2 + bits % 8, ' ');
    for (char& letter : word) {
      bits = splitmix(bits);
      letter = static_cast<char>('a' + bits % 26);
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<Line> make_lines() {
  const std::vector<std::string> words = make_words();
  std::vector<Line> lines(lines_count);
  std::uint64_t random = 1'000'000'007;
  for (Line& line : lines) {
    std::string text;
    while (text.size() < line.size()) {
      random = splitmix(random);
      const double even = static_cast<double>(random >> 11) / static_cast<double>(1ull << 53);
      text += words[static_cast<std::size_t>(even * even * even * words_count)];
      text += ' ';
    }
    std::copy_n(text.begin(), line.size(), line.begin());
  }
  return lines;
}

}  // namespace

const std::vector<Line>& word_pool() {
  static const std::vector<Line> lines = make_lines();
  return lines;
}

}  // namespace piracema::bench
