#include "smr/configuration/settings_file.h"

#include <set>
#include <sstream>
#include <string_view>

#include "base/text.h"

namespace piracema::smr {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// A comment begins outside of quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == text.npos;
}

Result<std::string> value_of(std::string_view text) {
  if (text.starts_with('"')) {
    const std::string_view inner = text.substr(1, text.size() < 2 ? 0 : text.size() - 2);
    if (text.size() < 2 || !text.ends_with('"') || inner.find_first_of("\"\\") != inner.npos) {
      return Error{Errc::config, concat("want one string in double quotes, found ", text)};
    }
    return std::string(inner);
  }
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789_") == text.npos;
  if (text != "true" && text != "false" && !is_number) {
    return Error{Errc::config, concat("want a number, true, false or a string in double quotes, "
                                      "found '",
                                      text, "'")};
  }
  std::string value(text);
  std::erase(value, '_');
  return value;
}

}  // namespace

Result<std::vector<Setting>> parse_settings(const std::string& text, const std::string& source) {
  std::vector<Setting> settings;
  std::set<std::pair<std::string, std::string>> seen;
  std::istringstream lines(text);
  std::string line, section;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    const auto wrong = [&](std::string_view what) {
      return Error{Errc::config, concat(source, ":", number, ": ", what)};
    };
    const std::string_view words = trimmed(without_comment(line));
    if (words.empty()) continue;
    if (words.starts_with('[')) {
      section = words.ends_with(']') ? trimmed(words.substr(1, words.size() - 2)) : "";
      if (!is_name(section)) return wrong(concat("want [section], found '", words, "'"));
      if (!seen.emplace(section, "").second) return wrong(concat("[", section, "] comes twice"));
      continue;
    }
    const std::size_t equals = words.find('=');
    const std::string name(trimmed(words.substr(0, equals)));
    if (equals == words.npos || !is_name(name)) {
      return wrong(concat("want name = value, found '", words.substr(0, 80), "'"));
    }
    const auto value = value_of(trimmed(words.substr(equals + 1)));
    if (!value) return wrong(concat(name, ": ", value.error().message));
    if (!seen.emplace(section, name).second) return wrong(concat(name, ": comes twice"));
    settings.push_back({section, name, *value, number});
  }
  return settings;
}

}  // namespace piracema::smr
