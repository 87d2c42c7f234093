#include "tools/terminal_text.h"

namespace piracema::tools {

std::string terminal_text(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  // The other control characters are two bytes each in UTF-8, from C2 80 to C2 9F.
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      text[i] = text[i + 1] = ' ';
    }
  }
  return text;
}

}  // namespace piracema::tools
