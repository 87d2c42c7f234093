#include "os/memory_nodes.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;

using Cores = std::vector<std::uint32_t>;

TEST_CASE("a list of cores is read as the kernel writes it") {
  CHECK(parse_core_list("0\n") == Cores{0});
  CHECK(parse_core_list("0-3,8,10-11\n") == Cores{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_core_list("\n").empty());  // Memory without cores.
  for (const char* wrong : {"x", "0-", "3-1", "0,", "0;1", "-1", "0-999999999"}) {
    CAPTURE(wrong);
    CHECK(parse_core_list(wrong).empty());
  }
}

TEST_CASE("nodes are those of the machine, with the cores that this process may use") {
  const testing::ScratchDirectory scratch;
  const auto write = [&](const std::string& node, const std::string& cores) {
    std::filesystem::create_directory(scratch.path() + "/" + node);
    std::ofstream(scratch.path() + "/" + node + "/cpulist") << cores << "\n";
  };
  cpu_set_t ours;
  CPU_ZERO(&ours);
  REQUIRE(::sched_getaffinity(0, sizeof ours, &ours) == 0);
  Cores may_use;
  for (std::uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &ours)) may_use.push_back(core);
  }
  write("node0", "0-1023");
  write("node1", "");  // Memory alone.
  write("nodes", "0");
  write("power", "0");
  CHECK(memory_nodes(scratch.path()) == MemoryNodes{may_use});
  CHECK(memory_nodes(scratch.path() + "/nowhere").empty());
}

TEST_CASE("processes share nodes out in runs, and none has but a part of one") {
  const MemoryNodes two{{0, 1}, {2, 3}}, four{{0}, {1}, {2}, {3}};
  CHECK(cores_of_process(two, 0, 2) == Cores{0, 1});
  CHECK(cores_of_process(two, 1, 2) == Cores{2, 3});
  CHECK(cores_of_process(two, 2, 6) == Cores{0, 1});
  CHECK(cores_of_process(two, 3, 6) == Cores{2, 3});
  CHECK(cores_of_process(four, 1, 2) == Cores{2, 3});
  CHECK(cores_of_process(four, 2, 4) == Cores{2});
}

TEST_CASE("nodes that would leave some processes with fewer cores are left to the kernel") {
  const MemoryNodes two{{0, 1}, {2, 3}}, uneven{{0, 1}, {2}};
  for (const std::size_t index : {0, 1, 2}) CHECK(cores_of_process(two, index, 3).empty());
  CHECK(cores_of_process(uneven, 0, 2).empty());
}

TEST_CASE("where all memory is as near as any, all cores are for all") {
  CHECK(cores_of_process({}, 0, 4).empty());
  CHECK(cores_of_process({{0, 1, 2, 3}}, 1, 4).empty());
  CHECK(cores_of_process({{0}, {1}}, 0, 1).empty());  // One process has the machine for itself.
}
