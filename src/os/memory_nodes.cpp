#include "os/memory_nodes.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace piracema::cluster {

namespace {

// More are not in a cpu_set_t.
constexpr std::uint32_t cores_max = CPU_SETSIZE;

bool read_number(const char*& at, const char* end, std::uint32_t& number) {
  const auto [next, wrong] = std::from_chars(at, end, number);
  at = next;
  return wrong == std::errc{} && number < cores_max;
}

}  // namespace

std::vector<std::uint32_t> parse_core_list(const std::string& text) {
  std::vector<std::uint32_t> cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && *at != '\n') {
    std::uint32_t first = 0, last = 0;
    if (!read_number(at, end, first)) return {};
    last = first;
    if (at != end && *at == '-' && (!read_number(++at, end, last) || last < first)) return {};
    for (std::uint32_t core = first; core <= last; ++core) cores.push_back(core);
    if (at != end && *at == ',') {
      if (++at == end) return {};
    } else if (at != end && *at != '\n') {
      return {};
    }
  }
  return cores;
}

MemoryNodes memory_nodes(const std::string& directory) {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  if (::sched_getaffinity(0, sizeof ours, &ours) != 0) return {};
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_number;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(directory, failed), none; !failed && at != none;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    std::uint32_t number = 0;
    const char* digits = name.data() + 4;
    const char* const end = name.data() + name.size();
    if (!name.starts_with("node") || !read_number(digits, end, number) || digits != end) continue;
    std::ifstream file(at->path() / "cpulist");
    const std::string list{std::istreambuf_iterator<char>(file), {}};
    for (const std::uint32_t core : parse_core_list(list)) {
      if (CPU_ISSET(core, &ours)) by_number[number].push_back(core);
    }
  }
  MemoryNodes nodes;
  for (auto& [number, cores] : by_number) nodes.push_back(std::move(cores));
  return nodes;
}

std::vector<std::uint32_t> cores_of_process(const MemoryNodes& nodes, std::size_t index,
                                            std::size_t count) {
  if (nodes.size() < 2 || count < 2) return {};
  const bool even = count % nodes.size() == 0 || nodes.size() % count == 0;
  const bool alike = std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
    return node.size() == nodes.front().size();
  });
  if (!even || !alike) return {};
  const std::size_t first = index * nodes.size() / count;
  const std::size_t end = std::max(first + 1, (index + 1) * nodes.size() / count);
  std::vector<std::uint32_t> cores;
  for (std::size_t node = first; node < end; ++node) {
    cores.insert(cores.end(), nodes[node].begin(), nodes[node].end());
  }
  return cores;
}

}  // namespace piracema::cluster
