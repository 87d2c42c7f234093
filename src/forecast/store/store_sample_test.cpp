#include "forecast/store/store_sample.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/testing.h"
#include "forecast/store/store_testing.h"

namespace piracema::ckpt {

namespace {

bool always() { return true; }

}  // namespace

TEST_CASE("a sample takes some time and leaves nothing") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  const auto seconds = write_sample(scratch.path(), "sample", 3'000'001, always);
  REQUIRE(seconds.ok());
  CHECK(*seconds > 0);
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("the file has no name from its first byte on, so that nothing is left by a kill") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  // /dev/shm, /proc and the like differ in which kind of file they have: both are tried.
  for (const std::string& place : {scratch.path(), std::string("/dev/shm")}) {
    const auto file = nameless_file(place, "piracema-sample-test");
    REQUIRE(file.ok());
    struct stat status {};
    REQUIRE(::fstat(file->get(), &status) == 0);
    CHECK(status.st_nlink == 0);
    CHECK_FALSE(std::filesystem::exists(place + "/piracema-sample-test"));
  }
  CHECK_FALSE(nameless_file(scratch.path() + "/nowhere", "a").ok());
}

TEST_CASE("a store that is nearly full is let alone") {
  CHECK(has_room(64e6, 10e9, 100e9));
  CHECK_FALSE(has_room(64e6, 4e9, 100e9));
  CHECK_FALSE(has_room(64e6, 200e6, 1e9));
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  const auto refused = write_sample(scratch.path(), "sample", std::uint64_t{1} << 60, always);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::refused);
}

TEST_CASE("a sample that is not wanted any more ends before its next piece") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  int pieces = 0;
  const auto ended = write_sample(scratch.path(), "sample", 64 << 20, [&] { return ++pieces < 3; });
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().code == Errc::lost);
  CHECK(pieces == 3);
}

}  // namespace piracema::ckpt
