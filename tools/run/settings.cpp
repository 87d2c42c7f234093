#include "tools/run/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr const char* standard_file = "piracema.toml";
constexpr off_t file_bytes_max = 1 << 20;
// They make no sense for more than one job.
const std::set<std::string_view> only_flags = {"help",
                                               "config",
                                               "kill",
                                               "resume",
                                               "from",
                                               "discard-newer",
                                               "keep-replicas",
                                               "standby",
                                               "allow-changed-state",
                                               "allow-changed-program",
                                               "drop",
                                               "json",
                                               "stdin"};

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : option.get_lnames().front();
}

std::string variable_of(const std::string& name) {
  std::string variable = "PIRACEMA_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

Result<Done> apply(CLI::Option& option, const std::vector<std::string>& values,
                   const std::string& where) {
  if (values.size() != 1) {
    return Error{Errc::config, concat(where, ": want one value, found ", values.size())};
  }
  try {
    const bool is_flag = option.get_type_size() == 0;
    if (is_flag) {
      option.add_result(option.get_flag_value(long_name(option), values.front()));
    } else {
      option.add_result(values);
    }
    option.run_callback();
  } catch (const CLI::ConversionError&) {
    return Error{Errc::config, concat(where, ": want true or false, found '", values.front(), "'")};
  } catch (const CLI::Error& error) {
    // The parser begins with the option, which nobody has typed.
    std::string what = error.what();
    if (what.starts_with("-")) what.erase(0, std::min(what.find(": ") + 2, what.size()));
    return Error{Errc::config, concat(where, ": ", what)};
  }
  return Done{};
}

Result<std::string> read_file(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return Error{Errc::config, with_errno(file)};
  if (!S_ISREG(status.st_mode) || status.st_size > file_bytes_max) {
    return Error{Errc::config, concat(file, ": want a file of settings of at most ",
                                      human_bytes(static_cast<double>(file_bytes_max)), ", found ",
                                      S_ISREG(status.st_mode)   ? "a larger one"
                                      : S_ISDIR(status.st_mode) ? "a directory"
                                                                : "a special file")};
  }
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) return Error{Errc::config, with_errno(file)};
  if (text.find('\0') != text.npos) {
    return Error{Errc::config, concat(file, ": want text, found a zero byte")};
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r");
  return end == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

// Number of the line that sets `item`, which the parser does not tell; the last one counts.
std::size_t line_of(const std::string& text, const CLI::ConfigItem& item) {
  std::istringstream lines(text);
  std::string line, section;
  std::size_t number = 0, found = 0;
  while (std::getline(lines, line)) {
    number += 1;
    const std::string_view words = trimmed(line);
    if (words.starts_with('[') && words.ends_with(']')) section = words.substr(1, words.size() - 2);
    std::string name(trimmed(words.substr(0, words.find('='))));
    if (!section.empty()) name = concat(section, ".", name);
    if (name == item.fullname()) found = number;
  }
  return found;
}

Result<Done> apply_file(CLI::App& command, const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  std::istringstream in(*text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    return Error{Errc::config, concat(file, ": ", error.what())};
  }
  for (const CLI::ConfigItem& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // Where a section begins and ends.
    const std::size_t line = line_of(*text, item);
    const std::string where =
        concat(file, ":", line == 0 ? "" : concat(line, ":"), " ", item.fullname());
    CLI::Option* option = command.get_option_no_throw("--" + item.name);
    if (item.parents != std::vector<std::string>{command.get_name()} || option == nullptr ||
        only_flags.contains(item.name)) {
      return Error{Errc::config, concat(where, ": unknown; want ", command.get_name(),
                                        ".NAME with the long name of an option")};
    }
    if (option->count() != 0) continue;
    if (auto applied = apply(*option, item.inputs, where); !applied) return applied;
  }
  return Done{};
}

}  // namespace

Result<Done> apply_settings(CLI::App& command, const std::string& file) {
  for (CLI::Option* option : command.get_options()) {
    const std::string name = long_name(*option);
    if (name.empty() || only_flags.contains(name) || option->count() != 0) continue;
    const std::string variable = variable_of(name);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    if (auto applied = apply(*option, {value}, variable); !applied) return applied;
  }
  if (!file.empty()) return apply_file(command, file);
  if (::access(standard_file, F_OK) == 0) return apply_file(command, standard_file);
  return Done{};
}

}  // namespace piracema::tools
