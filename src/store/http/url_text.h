#pragma once

#include <algorithm>
#include <string>
#include <string_view>

/// Text in requests and answers.
namespace piracema::store {

/// One that is the same in every address.
inline bool is_plain_in_url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.~").find(c) != std::string_view::npos;
}

/// Words of such characters with slashes between, none of them empty, "." or "..".
inline bool is_plain_path(std::string_view path) {
  while (true) {
    const std::string_view word = path.substr(0, path.find('/'));
    if (word.empty() || word == "." || word == "..") return false;
    if (!std::all_of(word.begin(), word.end(), is_plain_in_url)) return false;
    if (word.size() == path.size()) return true;
    path.remove_prefix(word.size() + 1);
  }
}

/// Of a name in a path, or of a value in a query, where a slash is a character like others.
inline std::string url_encoded(std::string_view text, bool keeps_slashes) {
  std::string out;
  for (const char c : text) {
    if (is_plain_in_url(c) || (keeps_slashes && c == '/')) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += "0123456789ABCDEF"[byte >> 4];
      out += "0123456789ABCDEF"[byte & 15];
    }
  }
  return out;
}

/// Of what a stranger says: one line, not for ever.
inline std::string one_line(std::string text) {
  constexpr std::size_t bytes_max = 200;
  if (text.size() > bytes_max) text.resize(bytes_max);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace piracema::store
