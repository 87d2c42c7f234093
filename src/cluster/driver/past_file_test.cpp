#include "cluster/driver/past_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/captured_log.h"
#include "base/testing.h"
#include "cluster/driver/past_news.h"
#include "observe/status/job_past.h"

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::seconds;

namespace {

const std::string own_token(32, 'a'), other_token(32, 'b');

/// A directory of snapshots with the folder of a coordinator.
struct Snapshots {
  Snapshots() { std::filesystem::create_directory(scratch.path() + "/coordinator"); }
  std::string file() const { return scratch.path() + "/coordinator/past"; }
  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string found(const std::string& token = own_token) const {
    const auto past = PastFile::find(scratch.path(), token);
    return past ? std::string(as_text(past->past)) : "nothing";
  }

  testing::ScratchDirectory scratch;
};

PastOfJob past_of(std::string_view text) { return {Buffer(as_bytes(text))}; }

}  // namespace

TEST_CASE("the next coordinator of a job finds the newest past, and that of no other job") {
  Snapshots snapshots;
  CHECK(snapshots.found() == "nothing");
  PastFile file(snapshots.scratch.path(), own_token);
  file.write(past_of("a loss"));
  file.write(past_of("a loss, and another one"));
  CHECK(snapshots.found() == "a loss, and another one");
  CHECK(snapshots.found(other_token) == "nothing");
  struct stat status {};
  REQUIRE(::stat(snapshots.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 077) == 0);
  REQUIRE(PastFile::remove(snapshots.scratch.path()).ok());
  CHECK(snapshots.found() == "nothing");
  REQUIRE(PastFile::remove(snapshots.scratch.path()).ok());
}

TEST_CASE("a past that is cut or damaged is none") {
  Snapshots snapshots;
  PastFile(snapshots.scratch.path(), own_token).write(past_of("a loss"));
  const std::string whole = snapshots.bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    snapshots.write(whole.substr(0, i));
    CHECK(snapshots.found() == "nothing");
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    snapshots.write(changed);
    CHECK(snapshots.found() == "nothing");
  }
}

TEST_CASE("where the past cannot be written that is said once") {
  Snapshots snapshots;
  std::filesystem::remove(snapshots.scratch.path() + "/coordinator");
  PastFile file(snapshots.scratch.path(), own_token);
  CapturedLog log;
  file.write(past_of("a loss"));
  file.write(past_of("another one"));
  const std::string said = log.end();
  const std::string_view what = "would not show what was before";
  REQUIRE(said.find(what) != said.npos);
  CHECK(said.find(what) == said.rfind(what));
}

TEST_CASE("what is new of the past is told once a second, and not before the job has begun") {
  observe::Board board{observe::JobFacts{}};
  PastNews news(board);
  CHECK_FALSE(news.next(seconds(10)));
  const auto show = [&](std::uint32_t failures) {
    auto status = std::make_shared<observe::JobStatus>();
    status->nodes.emplace_back();
    status->failures_count = failures;
    board.publish(status, seconds(10));
  };
  show(1);
  CHECK(news.next(seconds(10)));
  CHECK_FALSE(news.next(seconds(20)));
  show(2);
  CHECK(news.next(seconds(20)));
  show(3);
  CHECK_FALSE(news.next(seconds(20)));
  CHECK(news.next(seconds(21)));
}
