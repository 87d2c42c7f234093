#pragma once

#include <piracema/error.h>

#include <chrono>
#include <string>

#include "base/parse.h"
#include "base/text.h"

/// Values of settings (settings_file.h), each from its text; Errc::config says what is wanted.
namespace piracema::smr {

template <class N>
Result<Done> read_number(const std::string& text, N least, N most, N& to) {
  const auto number = parse_number<N>(text);
  if (!number || *number < least || *number > most) {
    return Error{Errc::config,
                 concat("want a number from ", least, " to ", most, ", found '", text, "'")};
  }
  to = *number;
  return Done{};
}

Result<Done> read_flag(const std::string& text, bool& to);
/// As "250ms"; with ms, s, m or h, from `least` to an hour.
Result<Done> read_time(const std::string& text, std::chrono::milliseconds least,
                       std::chrono::milliseconds& to);

}  // namespace piracema::smr
