#include "state/disk/state_directory.h"

#include <doctest/doctest.h>
#include <piracema/detail/stored_table.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing.h"
#include "base/text.h"
#include "state/disk/state_place_testing.h"

using namespace piracema;
using state::StateDirectory;
using state::testing::is_there;

namespace {

// Of processes, alive or not.
std::size_t directories_in(const std::string& path) {
  const std::filesystem::directory_iterator all(path);
  return static_cast<std::size_t>(
      std::count_if(begin(all), end(all), [](const auto& entry) { return entry.is_directory(); }));
}

struct StoredNumbers : detail::StoredTable<std::int64_t, std::int64_t> {
  explicit StoredNumbers(StatePlace& place) {
    lie_in(place);
    states().own(KeyGroups(16), {0, 16});
  }
  void fill() {
    for (std::int64_t key = 0; key < 50'000; ++key) {
      edit(key, mix(KeyHash<std::int64_t>::of(key))) = key;
    }
  }
};

}  // namespace

TEST_CASE("a process has a directory of its own, which goes with it") {
  if (!is_there()) return;
  const testing::ScratchDirectory folder;
  const std::string path = folder.path() + "/a/b";
  {
    const auto first = StateDirectory::open(path), second = StateDirectory::open(path);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(directories_in(path) == 2);
    StoredNumbers one(**first), other(**first), elsewhere(**second);
    one.fill();
    CHECK(one.states().size() == 50'000);
    CHECK(other.states().size() == 0);
    CHECK(elsewhere.states().size() == 0);
  }
  CHECK(directories_in(path) == 0);
}

TEST_CASE("what a process leaves that is killed goes when the next one comes") {
  if (!is_there()) return;
  const testing::ScratchDirectory folder;
  const std::string path = folder.path() + "/states";
  int told[2];
  REQUIRE(::pipe(told) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = StateDirectory::open(path);
    const char is_open = opened.ok() ? 1 : 0;
    if (::write(told[1], &is_open, 1) == 1) ::pause();
    ::_exit(1);
  }
  char is_open = 0;
  REQUIRE(::read(told[0], &is_open, 1) == 1);
  REQUIRE(is_open == 1);
  {
    // It lives.
    const auto opened = StateDirectory::open(path);
    REQUIRE(opened);
    CHECK(directories_in(path) == 2);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(directories_in(path) == 1);
  const auto opened = StateDirectory::open(path);
  REQUIRE(opened);
  CHECK(directories_in(path) == 1);
  ::close(told[0]);
  ::close(told[1]);
}

TEST_CASE("what is no place for states is refused with its path") {
  if (!is_there()) return;
  const testing::ScratchDirectory folder;
  const std::string file_path = folder.path() + "/file";
  std::ofstream(file_path) << "text";
  const auto file = StateDirectory::open(file_path);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == Errc::config);
  CHECK(file.error().message.starts_with(file_path));
  const auto little = StateDirectory::open(folder.path() + "/states", 1'000);
  REQUIRE_FALSE(little);
  CHECK(little.error().code == Errc::config);
}

TEST_CASE("states that cannot be made say where") {
  if (!is_there()) return;
  const testing::ScratchDirectory folder;
  const auto opened = StateDirectory::open(folder.path() + "/states");
  REQUIRE(opened);
  std::filesystem::remove_all(folder.path() + "/states");
  try {
    StoredNumbers numbers(**opened);
    FAIL("it was made");
  } catch (const StateError& error) {
    CHECK(std::string(error.what()).starts_with(folder.path() + "/states"));
  }
}
