#include "smr/configuration/settings_values.h"

#include <utility>

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

Error wrong(std::string message) { return {Errc::config, std::move(message)}; }

}  // namespace

Result<Done> read_flag(const std::string& text, bool& to) {
  if (text != "true" && text != "false") {
    return wrong(concat("want true or false, found '", text, "'"));
  }
  to = text == "true";
  return Done{};
}

Result<Done> read_time(const std::string& text, milliseconds least, milliseconds& to) {
  static const std::pair<const char*, std::int64_t> units[] = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const auto& [unit, factor] : units) {
    if (error != std::errc() || end != text.data() + text.size() - std::string(unit).size() ||
        !text.ends_with(unit) || number <= 0 || number > 3'600'000 / factor) {
      continue;
    }
    to = milliseconds(number * factor);
    if (to >= least) return Done{};
  }
  return wrong(
      concat("want a time from ", least.count(), "ms to 1h such as \"250ms\", found '", text, "'"));
}

}  // namespace piracema::smr
