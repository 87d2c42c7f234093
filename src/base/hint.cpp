#include "base/hint.h"

#include "base/text.h"

namespace piracema {

namespace {
constexpr std::string_view hint_mark = "; hint: ";
}

std::string with_hint(std::string_view message, std::string_view hint) {
  if (hint.empty() || message.find(hint_mark) != message.npos) return std::string(message);
  return concat(message, hint_mark, hint);
}

HintedText split_hint(std::string_view text) {
  const std::size_t at = text.find(hint_mark);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + hint_mark.size())};
}

}  // namespace piracema
