#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace piracema::cluster {

/// Cores that share memory (a NUMA node), for each such node of this machine: those that this
/// process may use, as the kernel tells in `directory`. Nodes without any are left out; empty if
/// the kernel does not tell.
using MemoryNodes = std::vector<std::vector<std::uint32_t>>;
MemoryNodes memory_nodes(const std::string& directory = "/sys/devices/system/node");

/// The cores for process `index` of `count` on this machine: nodes are shared out in runs, so that
/// neighbours by number are neighbours in memory; a process has all of a node, or of several.
/// Empty: all, where that would not give each process as many cores, or there are less than two of
/// either.
std::vector<std::uint32_t> cores_of_process(const MemoryNodes& nodes, std::size_t index,
                                            std::size_t count);

/// "0-3,8,10-11", as the kernel writes it: the numbers. Empty for something else.
std::vector<std::uint32_t> parse_core_list(const std::string& text);

}  // namespace piracema::cluster
