#include "host/directory_mark.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;

TEST_CASE("a mark is seen in its directory, and nowhere else") {
  const testing::ScratchDirectory ours, other;
  const auto mark = DirectoryMark::leave(ours.path());
  REQUIRE(mark.ok());
  const std::string path = (*mark)->path();
  CHECK(look_for_mark(path, "1").ok());
  CHECK(look_for_mark(path, "1").ok());  // Nothing is left behind by who looks.

  const std::string name = path.substr(path.rfind('/'));
  CHECK(look_for_mark(other.path() + name, "1").error().message ==
        "want the snapshots' directory '" + other.path() +
            "' shared by all hosts, found another one");
  CHECK(look_for_mark("/nowhere/at-all" + name, "1").error().message.ends_with("found none"));
}

TEST_CASE("a mark goes with who has left it, and those of the dead with the next one") {
  const testing::ScratchDirectory scratch;
  std::ofstream(scratch.path() + "/piracema.mark-of-one-who-was-killed");
  std::ofstream(scratch.path() + "/something-else");
  {
    const auto mark = DirectoryMark::leave(scratch.path());
    REQUIRE(mark.ok());
    CHECK_FALSE(std::filesystem::exists(scratch.path() + "/piracema.mark-of-one-who-was-killed"));
    CHECK(std::filesystem::exists((*mark)->path()));
  }
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    left += 1;
    CHECK(entry.path().filename() == "something-else");
  }
  CHECK(left == 1);
}

TEST_CASE("a directory that takes no files is none to leave a mark in") {
  CHECK(DirectoryMark::leave("/nowhere/at-all").error().code == Errc::config);
}
