#pragma once

#include <piracema/error.h>

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers, times and sizes from text. None of it depends on the locale.
namespace piracema {

/// The whole text as a number: no sign '+', no white space, nothing behind it. None if it is not
/// one or does not fit.
template <std::integral N>
std::optional<N> parse_number(std::string_view text, int base = 10) {
  N value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same for a decimal fraction; "inf" and "nan" are numbers, too.
template <std::floating_point N>
std::optional<N> parse_number(std::string_view text) {
  N value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "4096", "64MB", "1.5GiB" as a number of bytes, at least 1. Errc::usage for anything else.
Result<std::uint64_t> parse_bytes(const std::string& text);

/// "250ms", "1s", "1.5s", "2m", "1h": 1 ms to 1 year. Errc::usage for anything else.
Result<std::chrono::milliseconds> parse_duration(const std::string& text);

}  // namespace piracema
