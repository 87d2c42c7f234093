#include "tools/new/command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/log.h"
#include "base/text.h"
#include "tools/new/template.h"

namespace piracema::tools {

namespace {

constexpr std::size_t name_max = 64;

/// CMake has targets of these names.
constexpr std::array<std::string_view, 8> reserved = {
    "all", "clean", "edit_cache", "help", "install", "package", "rebuild_cache", "test"};

bool is_name(const std::string& name) {
  const auto is_plain = [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  };
  return !name.empty() && name.size() <= name_max && name.front() != '-' &&
         std::ranges::all_of(name, is_plain) && std::ranges::count(reserved, name) == 0;
}

/// The text with each `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// "0.1" of "0.1.0": the interface stays the same as long as these do.
std::string minor_version() {
  const std::string version = PIRACEMA_VERSION;
  return version.substr(0, version.rfind('.'));
}

}  // namespace

void NewCommand::add() {
  new_ = app_.add_subcommand("new", "Make a project to start from, in a directory of that name");
  new_->add_option("NAME", name_, "Letters, digits, '-' and '_'; nothing may be there")->required();
  new_->footer(
      "Example:\n"
      "  piracema new words && cd words\n"
      "  cmake -S . -B build && cmake --build build && ctest --test-dir build\n\n"
      "Exit codes:\n"
      "  0 done   2 usage   3 something of that name is there, or it cannot be written\n");
}

int NewCommand::run() const {
  if (!is_name(name_)) {
    log(Level::error, concat("want a name of letters, digits, '-' and '_' that CMake does not use "
                             "itself, found '",
                             name_, "'"));
    return 2;
  }
  std::error_code error;
  if (!std::filesystem::create_directory(name_, error)) {
    log(Level::error, error ? concat("cannot make ", name_, ": ", error.message())
                            : concat("want nothing at ", name_, ", found a directory"));
    return 3;
  }
  for (const TemplateFile& file : template_files()) {
    const std::string path = concat(name_, "/", std::string_view(file.name));
    std::ofstream out(path, std::ios::binary);
    out << replaced(replaced(file.text, "@NAME@", name_), "@VERSION@", minor_version());
    out.close();
    if (!out) {
      log(Level::error, concat("cannot write ", path));
      return 3;
    }
  }
  std::printf(
      "%s is made; go on with\n  cd %s && cmake -S . -B build && cmake --build build && "
      "ctest --test-dir build\n",
      name_.c_str(), name_.c_str());
  return 0;
}

}  // namespace piracema::tools
