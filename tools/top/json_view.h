#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace piracema::tools {

/// JSON that somebody else has written: what is missing, or of another kind, is empty, and no text
/// can move the cursor of a terminal.
class JsonView {
 public:
  /// `value` outlives it.
  explicit JsonView(const nlohmann::json& value) : value_(&value) {}

  JsonView operator[](const char* name) const { return JsonView(at(name)); }
  /// Not null, and not missing.
  bool has(const char* name) const { return !at(name).is_null(); }
  double number(const char* name) const;
  /// In whole numbers, as text.
  std::string count(const char* name) const;
  std::string text(const char* name) const;
  bool flag(const char* name) const;
  /// Elements of an array; none of anything else.
  std::vector<JsonView> list(const char* name) const;
  /// Those of them that are texts.
  std::vector<std::string> texts(const char* name) const;
  /// The same with a space between them.
  std::string words(const char* name) const;
  /// This value itself; none if it is no number.
  std::optional<double> number() const;

 private:
  const nlohmann::json& at(const char* name) const;

  const nlohmann::json* value_;
};

/// "1.2 ms"; "-" where it is not known.
std::string known_seconds(const JsonView& one, const char* name);

}  // namespace piracema::tools
