#include "tools/top/terminal_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/text.h"

namespace piracema::tools {

namespace {

std::size_t width_of(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string cut(const std::string& line, std::size_t columns) {
  if (columns == 0 || width_of(line) <= columns) return line;
  std::size_t shown = 0, end = 0;
  while (end < line.size()) {
    const bool begins = (static_cast<unsigned char>(line[end]) & 0xc0) != 0x80;
    if (begins && shown == columns) break;
    shown += begins ? 1 : 0;
    end += 1;
  }
  return line.substr(0, end);
}

std::string with_unit(double value, int digits, const char* unit) {
  char out[32];
  std::snprintf(out, sizeof out, "%.*f%s", digits, value, unit);
  return out;
}
// Three that count.
int digits_of(double value) { return value >= 100 ? 0 : value >= 10 ? 1 : 2; }

}  // namespace

void TerminalPage::line(const std::string& words, Paint paint) {
  if (options_.lines != 0 && count_ == options_.lines) return;
  count_ += 1;
  static constexpr std::array<const char*, 6> codes = {"", "1", "32", "31", "33", "2"};
  const std::string shown = cut(words, options_.columns);
  if (options_.color && paint != Paint::none) {
    out_ += concat("\x1b[", codes[static_cast<std::size_t>(paint)], "m", shown, "\x1b[0m\n");
  } else {
    out_ += shown + "\n";
  }
}

void TerminalPage::head(const std::string& words) {
  line("");
  line(words, Paint::soft);
}

void TerminalPage::table(const Rows& rows, std::size_t right, bool last_is_words) {
  if (rows.size() < 2) return;
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  line("");
  for (const auto& row : rows) {
    std::string words;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width_of(row[i]), ' ');
      const bool last = i + 1 == row.size();
      const bool is_right = i >= right && !(last && last_is_words);
      words += (i == 0 ? "" : "  ") + (is_right ? pad + row[i] : row[i] + (last ? "" : pad));
    }
    line(words, &row == &rows.front() ? Paint::soft : Paint::none);
  }
}

std::string short_number(double value) {
  static constexpr std::array<const char*, 4> units = {"", " k", " M", " G"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1'000;
    unit += 1;
  }
  return with_unit(value, unit == 0 ? 0 : digits_of(value), units[unit]);
}

std::string short_share(double part) {
  return concat(std::lround(100 * std::clamp(part, 0.0, 1.0)), " %");
}

std::string short_bytes(double count) { return count <= 0 ? "-" : human_bytes(count); }

std::string short_seconds(double seconds) {
  if (seconds > 0 && seconds < 0.9995e-3) return concat(std::lround(seconds * 1e6), " us");
  if (seconds > 0 && seconds < 0.1)
    return with_unit(seconds * 1e3, digits_of(seconds * 1e3), " ms");
  return human_seconds(seconds);
}

}  // namespace piracema::tools
