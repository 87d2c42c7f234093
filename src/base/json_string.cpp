#include "base/json_string.h"

#include <cstdint>
#include <cstdio>

namespace piracema {

namespace {

/// How many bytes of the front are one character of UTF-8; 0: none are (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, halves of UTF-16, and beyond the last character.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return count;
}

void append_escaped(std::string& out, const char* format, char c) {
  char escaped[8];
  std::snprintf(escaped, sizeof escaped, format,
                static_cast<unsigned>(static_cast<std::uint8_t>(c)));
  out += escaped;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    const char c = text.front();
    if (count == 0) {
      append_escaped(out, "\\\\x%02x", c);
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (count == 1 && (c < 0x20 || c == 0x7f)) {
      append_escaped(out, "\\u%04x", c);
    } else {
      out += text.substr(0, count);
    }
    text.remove_prefix(count == 0 ? 1 : count);
  }
  return out + '"';
}

}  // namespace piracema
