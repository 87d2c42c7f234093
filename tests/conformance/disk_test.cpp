#include "store/disk/disk.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>

#include "base/hint.h"
#include "base/testing.h"
#include "base/text.h"
#include "store/disk/directory_disk.h"
#include "store/disk/memory_disk.h"

// What every disk has to do.

namespace piracema::store {

using namespace testing;

namespace {

struct InMemory {
  MemoryDisk disk;
};

struct InDirectory {
  ScratchDirectory scratch;
  std::unique_ptr<DirectoryDisk> opened =
      *DirectoryDisk::open(scratch.path() + "/replica", "replica");
  DirectoryDisk& disk = *opened;
};

Result<Done> replace_with(Disk& disk, const std::string& name, std::string_view a,
                          std::string_view b = {}) {
  const std::array<Bytes, 2> pieces{as_bytes(a), as_bytes(b)};
  return disk.replace(name, pieces);
}

std::string text_of(Disk& disk, const std::string& name) {
  auto whole = read_whole(disk, name, 1'000'000);
  REQUIRE(whole);
  return std::string(as_text(*whole));
}

}  // namespace

TEST_CASE_TEMPLATE("files are synced together, and one that is missing is told", Place, InMemory,
                   InDirectory) {
  Place place;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back("f" + std::to_string(i));
    auto file = place.disk.create(names.back(), 3);
    REQUIRE(file);
    REQUIRE((*file)->write(0, as_bytes("abc")));
  }
  int calls = 0;
  CHECK(place.disk.sync_files(names, [&] { calls += 1; }));
  names[17] = "nobody";
  const auto missing = place.disk.sync_files(names, [&] { calls += 1; });
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == Errc::not_found);
  CHECK(calls == 2);
  CHECK(place.disk.sync_files({}, [&] { calls += 1; }));
  CHECK(calls == 3);
}

TEST_CASE("what was synced together survives a crash, and what was not may be lost") {
  bool lost = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    MemoryDisk disk(seed);
    const std::vector<std::string> names = {"a", "b"};
    for (const char* name : {"a", "b", "c"}) {
      REQUIRE((*disk.create(name, 3))->write(0, as_bytes("abc")));
    }
    REQUIRE(disk.sync_files(names, [] {}));
    REQUIRE(disk.sync_names());
    disk.crash();
    CHECK(text_of(disk, "a") == "abc");
    CHECK(text_of(disk, "b") == "abc");
    lost = lost || text_of(disk, "c") != "abc";
  }
  CHECK(lost);
}

TEST_CASE_TEMPLATE("a new file is zeros of its length, and holds what is written", Place, InMemory,
                   InDirectory) {
  Place place;
  auto file = place.disk.create("f", 10'000);
  REQUIRE(file);
  CHECK((*file)->bytes() == 10'000);
  REQUIRE((*file)->write(9'998, as_bytes("zz")));
  REQUIRE((*file)->write(3, as_bytes("abc")));
  REQUIRE((*file)->sync());
  REQUIRE(place.disk.sync_names());

  CHECK(text_of(place.disk, "f") == std::string(3, '\0') + "abc" + std::string(9'992, '\0') + "zz");
  const auto again = place.disk.open("f");
  REQUIRE(again);
  CHECK((*again)->bytes() == 10'000);
  REQUIRE((*again)->write(0, as_bytes("new")));
  std::array<std::byte, 6> room{};
  REQUIRE((*file)->read(0, room));
  CHECK(as_text(room) == "newabc");
}

TEST_CASE_TEMPLATE("a file that is made again is empty", Place, InMemory, InDirectory) {
  Place place;
  REQUIRE(replace_with(place.disk, "f", "old bytes"));
  REQUIRE(place.disk.create("f", 3));
  CHECK(text_of(place.disk, "f") == std::string(3, '\0'));
}

TEST_CASE_TEMPLATE("reading past the end is corrupt", Place, InMemory, InDirectory) {
  Place place;
  REQUIRE(replace_with(place.disk, "f", "0123"));
  auto file = place.disk.open("f");
  REQUIRE(file);
  std::array<std::byte, 3> room{};
  CHECK((*file)->read(2, room).error().code == Errc::corrupt);
  CHECK((*file)->read(99, room).error().code == Errc::corrupt);
}

TEST_CASE_TEMPLATE("a file is replaced by all of the pieces", Place, InMemory, InDirectory) {
  Place place;
  REQUIRE(replace_with(place.disk, "f", "a long first ", "text"));
  REQUIRE(replace_with(place.disk, "f", "a", " second"));
  CHECK(text_of(place.disk, "f") == "a second");
  CHECK(read_whole(place.disk, "f", 5).error().code == Errc::corrupt);
}

TEST_CASE_TEMPLATE("names are listed in order, and gone when removed", Place, InMemory,
                   InDirectory) {
  Place place;
  for (const char* name : {"b", "log-2", "a", "log-1"}) REQUIRE(place.disk.create(name, 1));
  REQUIRE(place.disk.remove("b"));
  REQUIRE(place.disk.remove("b"));
  const auto names = place.disk.list();
  REQUIRE(names);
  CHECK(*names == std::vector<std::string>{"a", "log-1", "log-2"});
  CHECK(place.disk.open("b").error().code == Errc::not_found);
}

TEST_CASE("a directory is for one user alone, and refused by the name of who has it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/replica";
  auto first = DirectoryDisk::open(path, "replica");
  REQUIRE(first);
  const auto second = DirectoryDisk::open(path, "replica");
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Errc::refused);
  CHECK(split_hint(second.error().message).message ==
        concat(path,
               ": want it for one replica alone, found it in use "
               "by process ",
               ::getpid()));
  first = Error{Errc::io, "closed"};
  CHECK(DirectoryDisk::open(path, "replica"));
}

TEST_CASE("a directory disk is not made of a file, nor where there is no directory") {
  const ScratchDirectory scratch;
  overwrite(scratch.path() + "/file", "x");
  CHECK(DirectoryDisk::open(scratch.path() + "/file", "replica").error().code == Errc::config);
  CHECK(DirectoryDisk::open(scratch.path() + "/none/replica", "replica").error().code == Errc::io);
}

TEST_CASE("what a process left of a file that it was replacing is cleared away") {
  const ScratchDirectory scratch;
  overwrite(scratch.path() + "/f.tmp-123-0", "half");
  overwrite(scratch.path() + "/f", "whole");
  auto disk = DirectoryDisk::open(scratch.path(), "replica");
  REQUIRE(disk);
  CHECK((*disk)->list().ok());
  CHECK(*(*disk)->list() == std::vector<std::string>{"f"});
}

TEST_CASE("a directory without room refuses a file when it is made, not when it is written") {
  const ScratchDirectory scratch;
  const std::string said = in_child([&]() -> std::string {
    std::signal(SIGXFSZ, SIG_IGN);
    auto disk = DirectoryDisk::open(scratch.path(), "replica");
    const rlimit limit{10'000, 10'000};
    if (!disk || ::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit could be set";
    auto made = (*disk)->create("f", 20'000);
    return made ? "made" : made.error().message;
  });
  CHECK(said == scratch.path() +
                    "/f: no room for 20000 bytes: File too large: files may have 10000 bytes here "
                    "(ulimit -f)");
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/f"));
}

}  // namespace piracema::store
