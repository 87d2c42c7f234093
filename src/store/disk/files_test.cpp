#include "store/disk/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "base/testing.h"

namespace piracema::store {

using namespace testing;

namespace {

Result<Done> replace_with(const std::string& path, std::string_view text) {
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  return replace_file(path, pieces);
}

std::size_t names_in(const std::string& directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a file is replaced as a whole, and nothing else stays beside it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";

  CHECK(replace_with(path, "a first and longer text"));
  CHECK(replace_with(path, "a second text"));

  CHECK(contents(path) == "a second text");
  CHECK(names_in(scratch.path()) == 1);
}

TEST_CASE("more pieces than one call to the kernel takes arrive in order, empty ones too") {
  const ScratchDirectory scratch;
  std::vector<std::string> texts;
  std::vector<Bytes> pieces;
  std::string whole;
  for (int i = 0; i < 300; ++i) texts.push_back(i % 3 == 0 ? "" : std::to_string(i));
  for (const std::string& text : texts) {
    pieces.push_back(as_bytes(text));
    whole += text;
  }

  CHECK(replace_file(scratch.path() + "/file", pieces));
  CHECK(contents(scratch.path() + "/file") == whole);
}

TEST_CASE("what is not a regular file is refused by its name and kind, without waiting for it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/thing";
  std::string want;
  SUBCASE("a directory") {
    want = "a directory";
    std::filesystem::create_directory(path);
  }
  SUBCASE("a link to nowhere") {
    want = "a symbolic link";
    std::filesystem::create_symlink("/nowhere", path);
  }
  SUBCASE("a pipe that nobody writes to") {
    want = "a pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }

  const auto read = read_file(path, 100);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::corrupt);
  CHECK(read.error().message == path + ": want a regular file, found " + want);
}

TEST_CASE("a file that claims to be huge is refused before any room is made for it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  overwrite(path, "x");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);  // A hole, no bytes on the disk.

  const auto read = read_file(path, 1'000);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::corrupt);
  CHECK(read.error().message == path + ": want at most 1000 bytes, found 1099511627776");
}

TEST_CASE("a file that is cut while it is read is corrupt") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  overwrite(path, "0123456789");
  const auto file = open_for_reading(path);
  REQUIRE(file);
  std::filesystem::resize_file(path, 4);

  std::array<std::byte, 10> room{};
  const auto read = read_at(*file, 0, room);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Errc::corrupt);
  CHECK(contains(read.error().message, "want 10 more bytes, found 4"));
}

TEST_CASE("a file that is not there is told apart from one that cannot be read") {
  const ScratchDirectory scratch;
  overwrite(scratch.path() + "/file", "x");

  CHECK(read_file(scratch.path() + "/none", 10).error().code == Errc::not_found);
  const auto below_a_file = read_file(scratch.path() + "/file/none", 10);
  CHECK(below_a_file.error().code == Errc::io);
  CHECK(contains(below_a_file.error().message, "Not a directory"));
}

TEST_CASE("a file that goes while it is looked for is not there, and nothing else") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) {
      overwrite(path, "here");
      CHECK(::unlink(path.c_str()) == 0);
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    const auto file = open_for_reading(path);
    if (file.ok() || file.error().code == Errc::not_found) continue;
    CHECK_MESSAGE(false, file.error().message);
    break;
  }
  over = true;
  other.join();
}

TEST_CASE("a write that the system refuses gives its reason and leaves the old file alone") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/file";
  overwrite(path, "old");

  const std::string said = in_child([&]() -> std::string {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000, 1'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit could be set";
    const auto written = replace_with(path, std::string(2'000, 'x'));
    return written ? "written" : written.error().message;
  });

  CHECK(said ==
        path + ": cannot write: File too large: files may have 1000 bytes here (ulimit -f)");
  CHECK(contents(path) == "old");
  CHECK(names_in(scratch.path()) == 1);
}

TEST_CASE("a file cannot be written where there is no directory") {
  const ScratchDirectory scratch;
  overwrite(scratch.path() + "/file", "x");

  CHECK(contains(replace_with(scratch.path() + "/none/file", "x").error().message,
                 "/none/file: cannot create: No such file or directory"));
  CHECK(contains(replace_with(scratch.path() + "/file/file", "x").error().message,
                 "/file/file: cannot create: Not a directory"));
  CHECK(replace_with("/proc/self/file", "x").error().code == Errc::io);
}

}  // namespace piracema::store
