#include "base/parse.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace piracema {

namespace {

constexpr double duration_max_ms = 1000.0 * 60 * 60 * 24 * 365;

double unit_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit == "m" || unit == "min") return 1000 * 60;
  if (unit == "h") return 1000 * 60 * 60;
  return 0;
}

}  // namespace

Result<std::uint64_t> parse_bytes(const std::string& text) {
  const Error wrong{Errc::usage, concat("want a size such as 64MB or 1GiB, found '", text, "'")};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return wrong;
  const std::string unit(end, text.data() + text.size());
  static const char* const units[] = {"B", "k", "M", "G", "T"};
  for (int power = 0; power < 5; ++power) {
    const std::string name = units[power];
    const bool plain = power == 0 ? unit.empty() || unit == name : unit == name + "B";
    const bool binary = power != 0 && (unit == name + "iB" || (power == 1 && unit == "KiB"));
    if (!plain && !binary) continue;
    const double bytes = value * std::pow(binary ? 1024.0 : 1000.0, power);
    if (!(bytes >= 1 && bytes <= 1e18)) return wrong;
    return static_cast<std::uint64_t>(bytes);
  }
  return wrong;
}

Result<std::chrono::milliseconds> parse_duration(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = parse_number<double>(std::string_view(text).substr(0, digits));
  const double ms = value.value_or(0) * unit_ms(std::string_view(text).substr(digits));
  if (!(ms >= 1 && ms <= duration_max_ms)) {
    return Error{
        Errc::usage,
        concat("want a time from 1ms to 1 year, such as 250ms, 1s or 2m, found '", text, "'")};
  }
  return std::chrono::milliseconds(std::llround(ms));
}

}  // namespace piracema
