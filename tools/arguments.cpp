#include "tools/arguments.h"

#include <sstream>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

Result<std::uint32_t> parse_count(const std::string& text, std::uint32_t max) {
  const auto count = parse_number<std::uint32_t>(text);
  if (count && *count >= 1 && *count <= max) return *count;
  return Error{Errc::usage, concat("want a number from 1 to ", max, ", found '", text, "'")};
}

Result<std::string> parse_path(const std::string& text) {
  if (!text.empty()) return text;
  return Error{Errc::usage, "want a name, found an empty one"};
}

Result<std::optional<std::chrono::milliseconds>> parse_patience(const std::string& text) {
  if (text == "never") return std::optional<std::chrono::milliseconds>();
  const auto time = parse_duration(text);
  if (!time)
    return Error{Errc::usage, concat("want a time such as 100ms, or never, found '", text, "'")};
  return std::optional(*time);
}

Result<std::string> parse_transport(const std::string& text) {
  if (text == "auto" || text == "tcp" || text == "shm" || text == "mpi") return text;
  return Error{Errc::usage, concat("want auto, tcp, shm or mpi, found '", text, "'")};
}

Result<std::vector<std::string>> parse_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.empty()) return Error{Errc::usage, "want a command, found an empty one"};
  return words;
}

}  // namespace piracema::tools
