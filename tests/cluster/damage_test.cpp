// Snapshots that are damaged between two runs, and a disk that is full.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

void stop_after_snapshots(const Stream& stream) {
  Job job(stream.run(stream.endless()));
  for (int i = 0; i < 3; ++i) job.wait_for("snapshot");
  job.signal(SIGTERM);
  REQUIRE(job.wait() == 75);
}

/// Files of the newest snapshot whose names begin so, by name.
std::vector<std::string> newest_files(const Stream& stream, const std::string& begin) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(stream.snapshots)) {
    if (entry.is_directory()) newest = std::max(newest, entry.path().string());
  }
  REQUIRE_FALSE(newest.empty());
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(newest)) {
    if (entry.path().filename().string().starts_with(begin)) files.push_back(entry.path());
  }
  REQUIRE_FALSE(files.empty());
  std::sort(files.begin(), files.end());
  return files;
}

void flip_a_byte(const std::string& path) {
  std::string bytes = contents(path);
  bytes.at(bytes.size() / 2) ^= 0x10;
  testing::overwrite(path, bytes);
}

// A file system of its own at `path`, seen by this process and its children only.
bool mount_small(const std::string& path) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=256k") == 0;
}

}  // namespace

TEST_CASE("a snapshot that was damaged is left for the one before, with a warning and its name") {
  const Stream stream;
  stop_after_snapshots(stream);
  const auto resume_and_check = [&](const std::string& damaged) {
    Job job(stream.run(stream.endless(), {"--resume"}));
    job.wait_for("first_item_out");
    stream.let_end();
    CHECK(job.wait() == 0);
    CHECK(is_in(damaged, job.errors()));
    CHECK(stream.is_right());
  };

  SUBCASE("a byte of a part is another one") {
    const std::string part = newest_files(stream, "part").back();
    flip_a_byte(part);
    resume_and_check(part);
  }
  SUBCASE("a part is cut") {
    const std::string part = newest_files(stream, "part").front();
    std::filesystem::resize_file(part, std::filesystem::file_size(part) - 1);
    resume_and_check(part);
  }
  SUBCASE("a part is gone") {
    const std::string part = newest_files(stream, "part").front();
    std::filesystem::remove(part);
    resume_and_check(part);
  }
  SUBCASE("the manifest is empty") {
    const std::string manifest = newest_files(stream, "manifest").front();
    testing::overwrite(manifest, "");
    resume_and_check(manifest);
  }
}

TEST_CASE("when every snapshot is damaged nothing is resumed: exit code 4 and a name") {
  const Stream stream;
  stop_after_snapshots(stream);
  std::string one;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(stream.snapshots)) {
    if (!entry.path().filename().string().starts_with("part")) continue;
    one = entry.path();
    flip_a_byte(one);
  }
  Job job(stream.run(stream.endless(), {"--resume"}));
  CHECK(job.wait() == 4);
  CHECK(is_in("none is intact", job.errors()));
  CHECK(is_in("part-", job.errors()));
}

TEST_CASE("a full disk fails the snapshots, not the job") {
  const Stream stream;
  std::filesystem::create_directory(stream.snapshots);
  const std::string expected = stream.expected(9'000);
  const std::string answer = testing::in_child([&]() -> std::string {
    if (!mount_small(stream.snapshots)) return "not permitted";
    // Three parts of 200 kB do not fit.
    Job job(stream.run({"items=9000", "pause_us=300", "ballast=200000"}));
    const int code = job.wait();
    std::string text = "code " + std::to_string(code);
    if (code != 0) text += ": " + job.errors();
    if (job.events("snapshot_failed").empty()) text += ", no snapshot failed";
    if (!job.events("snapshot").empty()) text += ", a snapshot was complete";
    if (!is_in("No space left", job.events("snapshot_failed").front()["why"])) text += ", why?";
    return text;
  });
  if (answer == "not permitted") {
    WARN_MESSAGE(false, "NOT TESTED: no file system can be mounted here");
    return;
  }
  CHECK(answer == "code 0");
  CHECK(contents(stream.out) == expected);
}
