#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace piracema::store {

/// A number as 16 lower-case digits, as `xxhsum` prints it.
inline std::string to_hex(std::uint64_t number) {
  std::string out(16, '0');
  for (std::size_t i = 0; i < 16; ++i) out[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
  return out;
}

/// Two lower-case digits a byte.
inline std::string to_hex(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

/// The bytes again; nullopt for anything that `to_hex` does not write.
inline std::optional<std::string> from_hex(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = digits.find(text[i]), low = digits.find(text[i + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

}  // namespace piracema::store
