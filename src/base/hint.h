#pragma once

#include <string>
#include <string_view>

namespace piracema {

/// A message and what to do next, if somebody knows: "disk: No space left on device; hint: …". It
/// stays one text, so that it comes along wherever the message is passed on, to another process
/// too.
std::string with_hint(std::string_view message, std::string_view hint);

struct HintedText {
  std::string_view message;
  /// Empty: there is none.
  std::string_view hint;
};
/// The parts of what `with_hint` has made. They lie in `text`.
HintedText split_hint(std::string_view text);

/// Of a peer that speaks another version of a protocol.
inline constexpr std::string_view other_version_hint =
    "have the same version of Piracema at both ends; piracema --version";

}  // namespace piracema
