#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace piracema::cluster {

/// Where something begins in a text, both from 1; columns are bytes.
struct Place {
  std::size_t line = 1, column = 1;
};

/// One value of a JSON text (RFC 8259) that knows its place, so that who finds it wrong can say
/// where: the JSON library that we have forgets it.
struct JsonValue {
  struct Member;
  using Object = std::vector<Member>;
  using Array = std::vector<JsonValue>;

  Place place;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value;

  const char* kind() const;
};

struct JsonValue::Member {
  std::string name;
  Place place;
  JsonValue value;
};

/// Errc::config, "3:14: want ',' or '}', found 'x'". At most 1 MiB and 64 levels; a name that comes
/// twice in an object is an error.
Result<JsonValue> parse_json(std::string_view text);

/// "3:14".
std::string to_text(Place place);

}  // namespace piracema::cluster
