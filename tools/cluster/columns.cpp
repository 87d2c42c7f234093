#include "tools/cluster/columns.h"

#include <cstdlib>
#include <iomanip>
#include <sstream>

namespace piracema::tools {

std::string row(std::initializer_list<std::pair<std::string, int>> columns) {
  std::ostringstream line;
  for (const auto& [text, width] : columns) {
    line << (width < 0 ? std::left : std::right) << std::setw(std::abs(width)) << text << "  ";
  }
  std::string text = line.str();
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace piracema::tools
