#include "base/log_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/refused_writes.h"
#include "base/testing.h"
#include "base/text.h"

using namespace piracema;
using testing::contents;
using testing::ScratchDirectory;

namespace {

/// Files may have so many bytes, as where a disk is full.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    refuse_large_writes();
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a file goes on where it was, and makes place for another one before it is too large") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  for (const char* line : {"first\n", "second\n", "third\n", "fourth\n"}) {
    auto file = LogFile::open(path);
    REQUIRE(file);
    CHECK(file->append(line, 14));
  }
  CHECK(contents(path) == "third\nfourth\n");
  CHECK(contents(path + ".1") == "first\nsecond\n");
  auto file = LogFile::open(path);
  CHECK(file->append("fifth\n", 14));
  CHECK(contents(path) == "fifth\n");
  CHECK(contents(path + ".1") == "third\nfourth\n");
}

TEST_CASE("a line that is longer than the bound is there, and no line is cut") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  auto file = LogFile::open(path);
  CHECK(file->append("much longer than that\n", 10));
  CHECK(file->append("short\n", 10));
  CHECK(contents(path + ".1") == "much longer than that\n");
  CHECK(contents(path) == "short\n");
}

TEST_CASE("without a bound all stays in one file") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  auto file = LogFile::open(path);
  for (int i = 0; i < 1'000; ++i) CHECK(file->append("line\n", 0));
  CHECK(std::filesystem::file_size(path) == 5'000);
  CHECK_FALSE(std::filesystem::exists(path + ".1"));
}

TEST_CASE("a file that was moved away or removed is begun anew") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  auto file = LogFile::open(path);
  CHECK(file->append("first\n", 0));
  std::filesystem::rename(path, path + ".old");
  CHECK(file->append("second\n", 0));
  CHECK(contents(path + ".old") == "first\n");
  CHECK(contents(path) == "second\n");
  std::filesystem::remove(path);
  CHECK(file->append("third\n", 0));
  CHECK(contents(path) == "third\n");
}

TEST_CASE("of several that append to the same file none loses a line of another one") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  constexpr int writers = 4, lines = 200;
  // Room for all of them in two files, so that none is dropped.
  constexpr std::uint64_t bytes_max = writers * lines * 8 * 3 / 4;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&path, writer] {
      auto file = LogFile::open(path);
      for (int i = 0; i < lines; ++i) {
        (void)file->append(concat("w", writer, " ", i + 1'000, "\n"), bytes_max);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const std::string all = contents(path + ".1") + contents(path);
  CHECK(all.size() == writers * lines * 8);
  for (int writer = 0; writer < writers; ++writer) {
    std::size_t at = 0;
    for (int i = 0; i < lines; ++i) {
      const std::size_t found = all.find(concat("w", writer, " ", i + 1'000, "\n"), at);
      REQUIRE(found != all.npos);
      at = found;
    }
  }
}

TEST_CASE("while another process moves it nobody waits, and lines go beyond the bound") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  auto file = LogFile::open(path);
  CHECK(file->append("first\n", 10));
  {
    const Fd other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(::flock(other.get(), LOCK_EX) == 0);
    CHECK(file->append("second\n", 10));
    CHECK(contents(path) == "first\nsecond\n");
  }
  CHECK(file->append("third\n", 10));
  CHECK(contents(path + ".1") == "first\nsecond\n");
  CHECK(contents(path) == "third\n");
}

TEST_CASE("where there is no room half a line is not left behind, and the next one is tried anew") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log";
  auto file = LogFile::open(path);
  CHECK(file->append("first\n", 0));
  {
    const SmallFiles small(10);
    const auto done = file->append("a line that does not fit\n", 0);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == Errc::io);
    CHECK(done.error().message.find("/log: cannot write a log there: ") != std::string::npos);
    CHECK(contents(path) == "first\n");
    // It fits.
    CHECK(file->append("abc\n", 0));
  }
  CHECK(file->append("again\n", 0));
  CHECK(contents(path) == "first\nabc\nagain\n");
}

TEST_CASE("a directory that is gone is an error until it is there again") {
  const ScratchDirectory directory;
  const std::string folder = directory.path() + "/logs";
  std::filesystem::create_directory(folder);
  auto file = LogFile::open(folder + "/log");
  std::filesystem::remove_all(folder);
  CHECK_FALSE(file->append("lost\n", 0));
  CHECK_FALSE(file->append("lost\n", 10));
  std::filesystem::create_directory(folder);
  CHECK(file->append("there\n", 10));
  CHECK(contents(folder + "/log") == "there\n");
}

TEST_CASE("what has the number of a file that was closed behind our back is left alone") {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/log", other = directory.path() + "/other";
  auto file = LogFile::open(path);
  CHECK(file->append("first\n", 0));
  // The lowest number that is free is that of the file.
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  ::close(next - 1);
  const Fd theirs(::open(other.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(theirs.get() == next - 1);
  CHECK(file->append("second\n", 0));
  CHECK(contents(other).empty());
  CHECK(::fcntl(theirs.get(), F_GETFD) != -1);
  CHECK(contents(path) == "first\nsecond\n");
}

TEST_CASE("a file that cannot be made is refused by name") {
  const auto file = LogFile::open("/nowhere/log");
  REQUIRE_FALSE(file);
  CHECK(file.error().code == Errc::config);
  CHECK(file.error().message.find("/nowhere/log: cannot write a log there: ") == 0);
}
