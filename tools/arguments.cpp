#include "tools/arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr double duration_max_ms = 1000.0 * 60 * 60 * 24 * 365;

template <class N>
std::optional<N> number(std::string_view text) {
  N value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double unit_ms(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit == "m" || unit == "min") return 1000 * 60;
  if (unit == "h") return 1000 * 60 * 60;
  return 0;
}

}  // namespace

Result<std::uint32_t> parse_count(const std::string& text, std::uint32_t max) {
  const auto count = number<std::uint32_t>(text);
  if (count && *count >= 1 && *count <= max) return *count;
  return Error{Errc::usage, concat("want a number from 1 to ", max, ", found '", text, "'")};
}

Result<std::string> parse_path(const std::string& text) {
  if (!text.empty()) return text;
  return Error{Errc::usage, "want a name, found an empty one"};
}

Result<std::chrono::milliseconds> parse_duration(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto value = number<double>(std::string_view(text).substr(0, digits));
  const double ms = value.value_or(0) * unit_ms(std::string_view(text).substr(digits));
  if (!(ms >= 1 && ms <= duration_max_ms)) {
    return Error{
        Errc::usage,
        concat("want a time from 1ms to 1 year, such as 250ms, 1s or 2m, found '", text, "'")};
  }
  return std::chrono::milliseconds(std::llround(ms));
}

Result<std::string> parse_transport(const std::string& text) {
  if (text == "auto" || text == "tcp" || text == "shm" || text == "mpi") return text;
  return Error{Errc::usage, concat("want auto, tcp, shm or mpi, found '", text, "'")};
}

Result<std::vector<std::string>> parse_names(const std::string& text) {
  std::istringstream in(text + ",");
  std::vector<std::string> names;
  for (std::string name; std::getline(in, name, ',');) {
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 ||
             std::string_view("._-:@").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (name.empty() || name.starts_with('-') || !plain) {
      return Error{Errc::usage, concat("want names with commas between them, found '", text, "'")};
    }
    names.push_back(name);
  }
  return names;
}

Result<std::vector<std::string>> parse_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) return Error{Errc::usage, "want a command, found an empty one"};
  return words;
}

Result<cluster::KillOrder> parse_kill(const std::string& text) {
  const Error wrong{
      Errc::usage,
      concat("want OP.REPLICA@PERCENT with 0 to 100 percent, such as compress.2@40, found '", text,
             "'")};
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return wrong;
  std::string_view percent_text = std::string_view(text).substr(at + 1);
  if (percent_text.ends_with('%')) percent_text.remove_suffix(1);
  const auto percent = number<double>(percent_text);
  if (!percent || !(*percent >= 0 && *percent <= 100)) return wrong;

  cluster::KillOrder order;
  order.at = *percent / 100;
  order.node = text.substr(0, at);
  if (const std::size_t dot = order.node.find_first_of("./"); dot != std::string::npos) {
    const auto replica = number<std::uint32_t>(std::string_view(order.node).substr(dot + 1));
    if (!replica) return wrong;
    order.replica = *replica;
    order.node.resize(dot);
  }
  if (order.node.empty()) return wrong;
  return order;
}

std::string kill_text(const cluster::KillOrder& order) {
  return concat(order.node, ".", order.replica, "@", std::lround(order.at * 100));
}

}  // namespace piracema::tools
