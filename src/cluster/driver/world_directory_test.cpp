#include "cluster/driver/world_directory.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;
namespace fs = std::filesystem;

TEST_CASE("what a world leaves behind is removed by who started it") {
  const testing::ScratchDirectory shared;
  {
    const auto world = WorldDirectory::make(shared.path());
    REQUIRE(world.ok());
    std::ofstream((*world)->path() + "/vader_segment.host.0.1.0") << "of a rank that was killed";
    (*world)->clear();
    CHECK(fs::is_empty((*world)->path()));
    std::ofstream((*world)->path() + "/vader_segment.host.0.2.0") << "of another one";
  }
  CHECK(fs::is_empty(shared.path()));
}

TEST_CASE("the directory of somebody who was killed goes with the next, that of the living stays") {
  const testing::ScratchDirectory shared;
  fs::create_directory(shared.path() + "/piracema-world-killed");
  std::ofstream(shared.path() + "/piracema-world-killed/segment") << "bytes";
  fs::create_directory(shared.path() + "/of-others");
  const auto one = WorldDirectory::make(shared.path()), two = WorldDirectory::make(shared.path());
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  CHECK_FALSE(fs::exists(shared.path() + "/piracema-world-killed"));
  CHECK(fs::exists(shared.path() + "/of-others"));
  CHECK(fs::exists((*one)->path()));
  CHECK(fs::exists((*two)->path()));
}

TEST_CASE("of those who start at the same moment each keeps its own") {
  const testing::ScratchDirectory shared;
  std::atomic<int> gone = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        const auto world = WorldDirectory::make(shared.path());
        if (!world.ok() || !fs::is_directory((*world)->path())) gone += 1;
      }
    });
  }
  for (std::thread& other : others) other.join();
  CHECK(gone == 0);
}

TEST_CASE("without memory that has names there is no directory") {
  CHECK(WorldDirectory::make("/nowhere/at-all").error().code == Errc::io);
}
