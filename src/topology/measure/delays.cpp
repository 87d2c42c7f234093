#include "topology/measure/delays.h"

#include <optional>
#include <string>
#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::coll {

namespace {

struct Ranks {
  Rank first, last;
};

std::optional<Ranks> parse_ranks(std::string_view text, Rank size) {
  if (text == "all") return Ranks{0, size - 1};
  const std::size_t dash = text.find('-');
  const auto first = parse_number<Rank>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<Rank>(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= size) return std::nullopt;
  return Ranks{*first, *last};
}

std::optional<double> parse_ms(std::string_view text) {
  if (!text.ends_with("ms")) return std::nullopt;
  const auto value = parse_number<double>(text.substr(0, text.size() - 2));
  if (!value || !(*value >= 0 && *value < 1e9)) return std::nullopt;
  return *value / 1e3;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

Result<LinkTable> parse_delays(std::string_view text, Rank size) {
  LinkTable table(size);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    const auto from = parse_ranks(words[0], size);
    const auto to = words.size() > 1 ? parse_ranks(words[1], size) : std::nullopt;
    const auto latency = words.size() > 2 ? parse_ms(words[2]) : std::nullopt;
    const auto megabyte = words.size() > 3 ? parse_ms(words[3]) : 0;
    if (!from || !to || !latency || !megabyte || words.size() > 4) {
      return Error{Errc::config, concat("links, line ", number, ": want RANKS RANKS LATENCYms ",
                                        "[MEGABYTEms] with ranks below ", size)};
    }
    for (Rank a = from->first; a <= from->last; ++a) {
      for (Rank b = to->first; b <= to->last; ++b) {
        if (a != b) table.set_both(a, b, {*latency, *megabyte / 1e6});
      }
    }
  }
  return table;
}

}  // namespace piracema::coll
