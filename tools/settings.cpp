#include "settings.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr const char* standard_file = "piracema.toml";
// They make no sense for more than one job.
const std::set<std::string_view> only_flags = {"help", "config", "kill", "resume", "json"};

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
  try {
    const bool is_flag = option.get_type_size() == 0;
    if (is_flag && values.size() == 1) {
      option.add_result(option.get_flag_value(long_name(option), values.front()));
    } else {
      option.add_result(values);
    }
    option.run_callback();
  } catch (const CLI::Error& error) {
    return Error{Errc::config, concat(where, ": ", error.what())};
  }
  return Done{};
}

Result<std::vector<CLI::ConfigItem>> read_file(const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0) return Error{Errc::config, with_errno(file)};
  try {
    return CLI::ConfigTOML().from_file(file);
  } catch (const CLI::Error& error) {
    return Error{Errc::config, concat(file, ": ", error.what())};
  }
}

Result<Done> apply_file(CLI::App& command, const std::string& file) {
  const auto items = read_file(file);
  if (!items) return items.error();
  for (const CLI::ConfigItem& item : *items) {
    if (item.name == "++" || item.name == "--") continue;  // Where a section begins and ends.
    const std::string where = concat(file, ": ", item.fullname());
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
