#include "store/disk/memory_disk.h"

#include <doctest/doctest.h>

#include <array>

namespace piracema::store {

namespace {

std::unique_ptr<DiskFile> make(MemoryDisk& disk, const std::string& name, std::uint64_t bytes) {
  auto file = disk.create(name, bytes);
  REQUIRE(file);
  REQUIRE(disk.sync_names());
  return *std::move(file);
}

std::string text_of(MemoryDisk& disk, const std::string& name) {
  auto whole = read_whole(disk, name, 1'000'000);
  REQUIRE(whole);
  return std::string(as_text(*whole));
}

}  // namespace

TEST_CASE("a crash loses any part of what was not synced, and nothing of what was") {
  bool some_kept = false, some_lost = false, some_torn = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    MemoryDisk disk(seed);
    const auto file = make(disk, "f", 4'096);
    REQUIRE(file->write(0, as_bytes(std::string(2'048, 'a'))));
    REQUIRE(file->sync());
    REQUIRE(file->write(1'024, as_bytes(std::string(2'048, 'b'))));
    disk.crash();

    const std::string after = text_of(disk, "f");
    CHECK(after.substr(0, 1'024) == std::string(1'024, 'a'));
    CHECK(after.substr(3'072) == std::string(1'024, '\0'));
    for (std::size_t sector = 1'024; sector < 3'072; sector += 512) {
      const char old = sector < 2'048 ? 'a' : '\0';
      const std::string now = after.substr(sector, 512);
      const auto kept = now.find_first_not_of('b');
      CHECK(now.find_first_not_of(old, std::min(kept, now.size())) == now.npos);
      if (kept == now.npos)
        some_kept = true;
      else if (kept == 0)
        some_lost = true;
      else
        some_torn = true;
    }
  }
  CHECK(some_kept);
  CHECK(some_lost);
  CHECK(some_torn);
}

TEST_CASE("a name survives a crash for certain only once the names are synced") {
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MemoryDisk disk(seed);
    make(disk, "old", 10);
    REQUIRE(disk.create("new", 10));
    disk.crash();
    REQUIRE(disk.open("old"));
    if (disk.open("new")) kept += 1;
  }
  CHECK(kept > 0);
  CHECK(kept < 20);
}

TEST_CASE("what a failed sync did not write is lost although the next sync succeeds") {
  MemoryDisk disk(1, {.loss = 0, .tear = 0});
  const auto file = make(disk, "f", 4);
  REQUIRE(file->write(0, as_bytes("lost")));
  disk.fail_syncs(1);
  CHECK(file->sync().error().code == Errc::io);
  CHECK(file->sync());
  CHECK(text_of(disk, "f") == "lost");  // As the kernel's memory has it.
  disk.crash();
  CHECK(text_of(disk, "f") == std::string(4, '\0'));
}

TEST_CASE("a file of a process that has ended is of no use, and nothing is lost by its end") {
  MemoryDisk disk;
  const auto file = make(disk, "f", 4);
  REQUIRE(file->write(0, as_bytes("kept")));
  disk.restart();
  CHECK(file->write(0, as_bytes("late")).error().code == Errc::io);
  CHECK(file->sync().error().code == Errc::io);
  CHECK(text_of(disk, "f") == "kept");
}

TEST_CASE("a machine that is switched off at some call does nothing from then on") {
  MemoryDisk disk;
  const auto file = make(disk, "f", 4);
  disk.stop_after(1);
  CHECK(file->write(0, as_bytes("ab")));
  CHECK(file->write(2, as_bytes("cd")).error().code == Errc::io);
  CHECK(disk.open("f").error().code == Errc::io);
  disk.restart();
  CHECK(text_of(disk, "f") == std::string("ab\0\0", 4));
}

TEST_CASE("a write that goes astray leaves its place as it was and harms another") {
  MemoryDisk disk;
  const auto file = make(disk, "f", 6);
  REQUIRE(file->write(0, as_bytes("abcdef")));
  disk.misdirect_next_write(3);
  REQUIRE(file->write(0, as_bytes("XY")));
  CHECK(text_of(disk, "f") == "abcXYf");
}

TEST_CASE("a full disk makes no more files, and has room again when one is removed") {
  MemoryDisk disk;
  disk.set_capacity(100);
  make(disk, "f", 60);
  CHECK(disk.create("g", 60).error().code == Errc::io);
  const std::array<Bytes, 1> pieces{as_bytes(std::string_view("0123456789"))};
  CHECK(disk.replace("h", pieces));
  REQUIRE(disk.remove("f"));
  CHECK(disk.create("g", 60));
}

TEST_CASE("rot changes what is there and what would be there after a crash") {
  MemoryDisk disk;
  const auto file = make(disk, "log-1", 64);
  REQUIRE(file->write(8, as_bytes("x")));
  REQUIRE(file->sync());
  CHECK_FALSE(disk.rot_somewhere("other-"));
  CHECK(disk.rot_somewhere("log-"));
  CHECK(text_of(disk, "log-1")[8] != 'x');
  disk.crash();
  CHECK(text_of(disk, "log-1")[8] != 'x');
  CHECK_FALSE(disk.rot("none", 0, 1));
}

}  // namespace piracema::store
