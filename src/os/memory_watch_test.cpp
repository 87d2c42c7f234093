#include "os/memory_watch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing.h"
#include "base/text.h"

using namespace piracema;

namespace {

constexpr std::uint64_t mb = 1'000'000;

bool says(MemoryWatch& watch, std::uint64_t left, std::uint64_t own = 500 * mb) {
  return watch.look({1'000 * mb, left, true}, own).has_value();
}

/// Files as a kernel has them.
struct Kernel {
  void file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = folder.path() + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::optional<MemoryLeft> left() const {
    return memory_left(folder.path() + "/proc", folder.path() + "/groups");
  }
  testing::ScratchDirectory folder;
};

}  // namespace

TEST_CASE("short memory is said once, and again when half of what was left is gone") {
  MemoryWatch watch;
  CHECK_FALSE(says(watch, 300 * mb));
  CHECK_FALSE(says(watch, 101 * mb));
  CHECK(says(watch, 90 * mb));
  CHECK_FALSE(says(watch, 90 * mb));
  CHECK_FALSE(says(watch, 46 * mb));
  CHECK(says(watch, 40 * mb));
  CHECK_FALSE(says(watch, 150 * mb));
  CHECK_FALSE(says(watch, 90 * mb));
  CHECK_FALSE(says(watch, 300 * mb));
  CHECK(says(watch, 90 * mb));
}

TEST_CASE("who has little of it says nothing") {
  MemoryWatch watch;
  CHECK_FALSE(says(watch, 20 * mb, 50 * mb));
  CHECK(says(watch, 20 * mb, 100 * mb));
}

TEST_CASE("what is said names what is left, of what, and what the process has") {
  MemoryWatch watch;
  const auto said = watch.look({1'000 * mb, 20 * mb, false}, 700 * mb);
  REQUIRE(said);
  CHECK(*said ==
        "memory gets short: 20.0 MB are left of the 1.00 GB of its control group "
        "(a container, a job), and this process has 700 MB");
}

TEST_CASE("this machine says how much memory is left, and what a process has") {
  const auto found = memory_left();
  REQUIRE(found);
  CHECK(found->limit > 100 * mb);
  CHECK(found->left <= found->limit);
  CHECK(own_memory() > mb);
  CHECK(own_memory() < found->limit);
}

TEST_CASE("of the machine and all groups above the process the shortest counts") {
  Kernel kernel;
  CHECK_FALSE(kernel.left());
  kernel.file("proc/meminfo", "MemTotal:  1000000 kB\nMemAvailable:  900000 kB\n");
  REQUIRE(kernel.left());
  CHECK(kernel.left()->of_machine);
  CHECK(kernel.left()->left == 900'000 * 1'024);

  kernel.file("proc/self/cgroup", "4:memory:/job/step\n3:cpu:/x\n0::/box/inner\n");
  kernel.file("groups/box/memory.max", "200000000\n");
  kernel.file("groups/box/memory.current", "150000000\n");
  kernel.file("groups/box/memory.stat", "anon 1\ninactive_file 50000000\n");
  kernel.file("groups/box/inner/memory.max", "max\n");
  kernel.file("groups/box/inner/memory.current", "150000000\n");
  CHECK_FALSE(kernel.left()->of_machine);
  CHECK(kernel.left()->limit == 200'000'000);
  CHECK(kernel.left()->left == 100'000'000);

  // Version 1, in a container: its path is the machine's.
  kernel.file("groups/memory/memory.limit_in_bytes", "400000000\n");
  kernel.file("groups/memory/memory.usage_in_bytes", "390000000\n");
  CHECK(kernel.left()->limit == 400'000'000);
  CHECK(kernel.left()->left == 10'000'000);
  kernel.file("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(kernel.left()->limit == 200'000'000);
}

TEST_CASE("files that say anything else are no limit") {
  Kernel kernel;
  kernel.file("proc/meminfo", "MemTotal:  1000000 kB\nMemAvailable:  900000 kB\n");
  for (const std::string text : {"", ":", "::", "0::", "0::relative", "0::/../..\n:memory:\n"}) {
    kernel.file("proc/self/cgroup", text);
    REQUIRE(kernel.left());
    CHECK(kernel.left()->of_machine);
  }
}
