#include "base/json_reader.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace piracema::cluster {

namespace {

std::string number_text(double number) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return {digits, end};
}

}  // namespace

void JsonReader::fail(Place place, const std::string& wanted, const std::string& found) {
  if (error_.empty()) {
    error_ = concat(file_, ":", to_text(place), ": want ", wanted, ", found ", found);
  }
}

void JsonReader::unknown(const JsonValue::Member& member, const char* wanted) {
  fail(member.place, wanted, concat("'", member.name, "'"));
}

const JsonValue::Object& JsonReader::object(const JsonValue& value) {
  static const JsonValue::Object none;
  if (const auto* members = std::get_if<JsonValue::Object>(&value.value)) return *members;
  fail(value.place, "an object", value.kind());
  return none;
}

const JsonValue::Array& JsonReader::array(const JsonValue& value) {
  static const JsonValue::Array none;
  if (const auto* values = std::get_if<JsonValue::Array>(&value.value)) return *values;
  fail(value.place, "an array", value.kind());
  return none;
}

std::string JsonReader::text(const JsonValue& value) {
  if (const auto* found = std::get_if<std::string>(&value.value)) {
    if (found->empty()) fail(value.place, "a text", "an empty one");
    return *found;
  }
  fail(value.place, "a string", value.kind());
  return {};
}

std::uint32_t JsonReader::count(const JsonValue& value, double max) {
  const auto* number = std::get_if<double>(&value.value);
  const std::string wanted = concat("a whole number from 1 to ", static_cast<std::int64_t>(max));
  if (number == nullptr) {
    fail(value.place, wanted, value.kind());
  } else if (!(*number >= 1 && *number <= max) || std::floor(*number) != *number) {
    fail(value.place, wanted, number_text(*number));
  } else {
    return static_cast<std::uint32_t>(*number);
  }
  return 1;
}

}  // namespace piracema::cluster
