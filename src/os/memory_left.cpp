#include "os/memory_left.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"

namespace piracema {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  const std::string text = text_of(path);
  return parse_number<std::uint64_t>(std::string_view(text).substr(0, text.find('\n')));
}

// "NAME:   123 kB", or "name 123": the number behind the name.
std::optional<std::uint64_t> number_behind(const std::string& text, const std::string& name) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == name && words >> word) return parse_number<std::uint64_t>(word);
  }
  return std::nullopt;
}

/// How one version of control groups calls its files.
struct Version {
  const char *limit, *used, *given_up;
};
constexpr Version version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Version version_2{"memory.max", "memory.current", "inactive_file"};

std::optional<MemoryLeft> left_in(const std::string& group, const Version& version) {
  const auto limit = number_of(concat(group, "/", version.limit));
  const auto used = number_of(concat(group, "/", version.used));
  if (!limit || !used || *limit == 0) return std::nullopt;
  const std::string parts = text_of(concat(group, "/memory.stat"));
  const std::uint64_t files = number_behind(parts, version.given_up).value_or(0);
  const std::uint64_t held = *used - std::min(*used, files);
  return MemoryLeft{*limit, *limit - std::min(*limit, held), false};
}

// A smaller part of it is left.
bool is_shorter(const MemoryLeft& a, const MemoryLeft& b) {
  return static_cast<double>(a.left) * static_cast<double>(b.limit) <
         static_cast<double>(b.left) * static_cast<double>(a.limit);
}

}  // namespace

std::optional<MemoryLeft> memory_left(const std::string& proc, const std::string& groups) {
  const std::string machine = text_of(concat(proc, "/meminfo"));
  const auto total = number_behind(machine, "MemTotal:");
  const auto available = number_behind(machine, "MemAvailable:");
  if (!total || !available || *total == 0) return std::nullopt;
  MemoryLeft shortest{*total * 1'024, *available * 1'024, true};
  const std::uint64_t all = shortest.limit;
  std::istringstream lines(text_of(concat(proc, "/self/cgroup")));
  for (std::string line; std::getline(lines, line);) {
    // "NUMBER:CONTROLLERS:PATH", without controllers in version 2.
    const std::size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = line.substr(controllers, path - 1 - controllers);
    if (!names.empty() && names != "memory") continue;
    const Version& version = names.empty() ? version_2 : version_1;
    const std::string root = names.empty() ? groups : concat(groups, "/memory");
    // In a container the path may be one of the machine's; its own group is the root then.
    for (std::string group = line.substr(path);;) {
      const auto found = left_in(root + (group == "/" ? "" : group), version);
      // No limit is a large one.
      if (found && found->limit < all && is_shorter(*found, shortest)) shortest = *found;
      const std::size_t above = group.rfind('/');
      if (group.empty() || above == std::string::npos) break;
      group.resize(above);
    }
  }
  return shortest;
}

std::uint64_t own_memory(const std::string& proc) {
  const auto resident = number_behind(text_of(concat(proc, "/self/status")), "VmRSS:");
  return resident.value_or(0) * 1'024;
}

}  // namespace piracema
