#pragma once

#include <cstdint>
#include <string>

#include "base/json_text.h"

namespace piracema::cluster {

/// Takes a parsed text apart. Where a value is not what is asked for something harmless is returned
/// and the reading goes on; the first thing that was wrong is kept. Does not own the file's name.
class JsonReader {
 public:
  explicit JsonReader(const std::string& file) : file_(file) {}

  /// "FILE:LINE:COLUMN: want …, found …", unless something was wrong before.
  void fail(Place place, const std::string& wanted, const std::string& found);
  /// A member whose name nobody knows.
  void unknown(const JsonValue::Member& member, const char* wanted);

  const JsonValue::Object& object(const JsonValue& value);
  const JsonValue::Array& array(const JsonValue& value);
  /// Not an empty one.
  std::string text(const JsonValue& value);
  /// A whole number from 1 to `max`.
  std::uint32_t count(const JsonValue& value, double max);

  /// What was wrong first; empty if nothing was.
  const std::string& error() const { return error_; }

 private:
  const std::string& file_;
  std::string error_;
};

}  // namespace piracema::cluster
