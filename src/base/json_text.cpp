#include "base/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 20;
constexpr int depth_max = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

/// Reads a text from its beginning to its end. The first thing that is wrong is kept, and all
/// functions return at once after it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> run() {
    JsonValue value = read_value(0);
    skip_space();
    if (error_.empty() && at_ < text_.size()) fail("the end");
    if (!error_.empty()) return Error{Errc::config, error_};
    return value;
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool is_over() const { return at_ >= text_.size(); }
  void advance() {
    if (text_[at_] == '\n') {
      place_ = {place_.line + 1, 1};
    } else {
      place_.column += 1;
    }
    at_ += 1;
  }
  bool take(char wanted) {
    if (!error_.empty() || is_over() || next() != wanted) return false;
    advance();
    return true;
  }
  void skip_space() {
    while (!is_over() && (next() == ' ' || next() == '\t' || next() == '\n' || next() == '\r')) {
      advance();
    }
  }

  void fail(std::string_view wanted) { fail_at(place_, wanted, found()); }
  void fail_at(Place place, std::string_view wanted, std::string_view what) {
    if (error_.empty()) error_ = concat(to_text(place), ": want ", wanted, ", found ", what);
  }
  std::string found() const {
    if (is_over()) return "the end";
    const auto byte = static_cast<unsigned char>(next());
    if (byte >= 0x20 && byte < 0x7F) return concat("'", next(), "'");
    return concat("byte ", static_cast<int>(byte));
  }

  JsonValue read_value(int depth) {
    skip_space();
    JsonValue value{place_, nullptr};
    if (!error_.empty()) return value;
    if (depth > depth_max) {
      fail_at(place_, concat("at most ", depth_max, " levels"), "more");
    } else if (next() == '{' && !is_over()) {
      value.value = read_object(depth);
    } else if (next() == '[' && !is_over()) {
      value.value = read_array(depth);
    } else if (next() == '"' && !is_over()) {
      value.value = read_string();
    } else if (next() == '-' || is_digit(next())) {
      value.value = read_number();
    } else if (read_word("true")) {
      value.value = true;
    } else if (read_word("false")) {
      value.value = false;
    } else if (!read_word("null")) {
      fail("a value");
    }
    return value;
  }

  bool read_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    for (std::size_t i = 0; i < word.size(); ++i) advance();
    return true;
  }

  JsonValue::Object read_object(int depth) {
    JsonValue::Object members;
    take('{');
    skip_space();
    if (take('}')) return members;
    do {
      skip_space();
      const Place place = place_;
      if (next() != '"') {
        fail("a name in quotes");
        return members;
      }
      std::string name = read_string();
      for (const auto& other : members) {
        if (other.name == name) fail_at(place, "each name once", concat("'", name, "' again"));
      }
      skip_space();
      if (!take(':')) fail("':'");
      members.push_back({std::move(name), place, read_value(depth + 1)});
      skip_space();
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    return members;
  }

  JsonValue::Array read_array(int depth) {
    JsonValue::Array values;
    take('[');
    skip_space();
    if (take(']')) return values;
    do {
      values.push_back(read_value(depth + 1));
      skip_space();
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return values;
  }

  std::string read_string() {
    std::string out;
    take('"');
    while (error_.empty() && !is_over() && next() != '"') {
      const auto byte = static_cast<unsigned char>(next());
      if (byte < 0x20) {
        fail("no control character in a string");
      } else if (next() == '\\') {
        read_escape(out);
      } else {
        out += next();
        advance();
      }
    }
    if (!take('"')) fail("'\"'");
    return out;
  }

  void read_escape(std::string& out) {
    constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    advance();
    if (take('u')) return append_utf8(out, read_code());
    const std::size_t which = is_over() ? escapes.npos : escapes.find(next());
    if (which == escapes.npos) return fail("one of \"\\/bfnrtu after '\\'");
    out += meanings[which];
    advance();
  }

  std::uint32_t read_code() {
    const std::uint32_t first = read_four();
    const bool is_first_half = first >= 0xD800 && first < 0xDC00;
    if (first >= 0xDC00 && first < 0xE000) fail("the first half of a pair before the second");
    if (!is_first_half) return first;
    if (!take('\\') || !take('u')) fail("the second half of a pair");
    const std::uint32_t second = read_four();
    if (second < 0xDC00 || second >= 0xE000) fail("the second half of a pair");
    return 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
  }

  std::uint32_t read_four() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, wrong] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (wrong != std::errc{} || digits.size() != 4 || end != digits.data() + 4) {
      fail("four hexadecimal digits");
      return 0;
    }
    for (int i = 0; i < 4; ++i) advance();
    return code;
  }

  double read_number() {
    const std::size_t begin = at_;
    take('-');
    if (!take('0')) read_digits();
    if (take('.')) read_digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      read_digits();
    }
    double number = 0;
    const auto [end, wrong] = std::from_chars(text_.data() + begin, text_.data() + at_, number);
    if (error_.empty() && (wrong != std::errc{} || end != text_.data() + at_)) fail("a number");
    return number;
  }

  void read_digits() {
    if (!is_digit(next())) fail("a digit");
    while (error_.empty() && is_digit(next())) advance();
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
  std::string error_;
};

}  // namespace

const char* JsonValue::kind() const {
  constexpr std::array kinds{"null",     "true or false", "a number",
                             "a string", "an array",      "an object"};
  return kinds[value.index()];
}

Result<JsonValue> parse_json(std::string_view text) {
  if (text.size() > bytes_max) {
    return Error{Errc::config,
                 concat("1:1: want at most ", bytes_max, " bytes, found ", text.size())};
  }
  return Parser(text).run();
}

std::string to_text(Place place) { return concat(place.line, ":", place.column); }

}  // namespace piracema::cluster
