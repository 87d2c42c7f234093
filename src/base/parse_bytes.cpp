#include "base/parse_bytes.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace piracema {

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

}  // namespace piracema
