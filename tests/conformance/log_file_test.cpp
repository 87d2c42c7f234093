#include "store/log/log_file.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "base/testing.h"
#include "base/text.h"
#include "store/disk/directory_disk.h"
#include "store/disk/memory_disk.h"

// What the log keeps, on a directory and on a disk in memory, and what it says of one that is
// damaged.

namespace piracema::store {

using namespace testing;

namespace {

constexpr std::uint64_t small_segment = 1'024;

struct InMemory {
  MemoryDisk disk;
  void restart() { disk.restart(); }
};

struct InDirectory {
  ScratchDirectory scratch;
  std::unique_ptr<DirectoryDisk> opened =
      *DirectoryDisk::open(scratch.path() + "/replica", "replica");
  DirectoryDisk& disk = *opened;
  void restart() {}
};

struct Read {
  std::unique_ptr<LogFile> log;
  std::vector<std::string> bodies;
  /// Number of the first one.
  LogSequence first = 0;
  /// Of the error; the rest is empty then.
  std::optional<Error> error;
};

Read open_log(Disk& disk, std::uint64_t segment_bytes = small_segment, std::uint64_t owner = 7) {
  Read read;
  LogSequence expected = 0;
  auto log = LogFile::open(disk, {owner, segment_bytes, 256},
                           [&](LogSequence sequence, Bytes body) -> Result<Done> {
                             if (read.bodies.empty()) read.first = expected = sequence;
                             CHECK(sequence == expected++);
                             read.bodies.emplace_back(as_text(body));
                             return Done{};
                           });
  if (log) {
    read.log = *std::move(log);
  } else {
    read.error = log.error();
  }
  return read;
}

std::string body_of(LogSequence sequence) {
  return concat("record ", sequence, " ", std::string(sequence % 50, 'x'));
}

Result<LogSequence> commit(LogFile& log, int records, bool idle = true) {
  LogGroup group;
  for (int i = 0; i < records; ++i) {
    group.add(as_bytes(body_of(log.next() + static_cast<LogSequence>(i))));
  }
  return log.commit(group, idle);
}

// Whether `read` has exactly the records from `first` up to `last`.
bool holds(const Read& read, LogSequence first, LogSequence last) {
  if (read.error || read.bodies.size() != last + 1 - first) return false;
  if (read.first != first && first <= last) return false;
  for (LogSequence sequence = first; sequence <= last; ++sequence) {
    if (read.bodies[sequence - first] != body_of(sequence)) return false;
  }
  return read.log->next() == last + 1;
}

}  // namespace

TEST_CASE_TEMPLATE("records come back in order over many files", Place, InMemory, InDirectory) {
  Place place;
  {
    Read read = open_log(place.disk);
    REQUIRE_FALSE(read.error);
    CHECK(read.bodies.empty());
    CHECK(read.log->next() == 1);
    CHECK(*commit(*read.log, 1) == 1);
    CHECK(*commit(*read.log, 40) == 41);
    for (int i = 0; i < 20; ++i) REQUIRE(commit(*read.log, 3));
  }
  place.restart();
  Read again = open_log(place.disk);
  CHECK(holds(again, 1, 101));
  CHECK(again.log->condition().cut == "");
  CHECK(place.disk.list()->size() > 5);

  REQUIRE(commit(*again.log, 5));
  place.restart();
  CHECK(holds(open_log(place.disk), 1, 106));
}

TEST_CASE_TEMPLATE("a record may be empty, or larger than a file is meant to be", Place, InMemory,
                   InDirectory) {
  Place place;
  const std::string large(10 * small_segment, 'L');
  {
    Read read = open_log(place.disk);
    LogGroup group;
    group.add({});
    group.add(as_bytes(large));
    group.begin().append("in its place", 12);
    group.end();
    CHECK(group.records() == 3);
    CHECK(*read.log->commit(group) == 3);
    CHECK(group.empty());
  }
  place.restart();
  const Read again = open_log(place.disk);
  CHECK(again.bodies == std::vector<std::string>{"", large, "in its place"});
}

TEST_CASE_TEMPLATE("what is truncated is not read again, and its files go", Place, InMemory,
                   InDirectory) {
  Place place;
  {
    Read read = open_log(place.disk);
    for (int i = 0; i < 30; ++i) REQUIRE(commit(*read.log, 3));
    const std::size_t files = place.disk.list()->size();
    read.log->truncate(60);
    CHECK(place.disk.list()->size() == files);
    REQUIRE(commit(*read.log, 1));
    CHECK(place.disk.list()->size() < files / 2);
    read.log->truncate(30);  // Never goes back.
  }
  place.restart();
  Read again = open_log(place.disk);
  CHECK(holds(again, 60, 91));
  CHECK(again.log->condition().first == 60);

  again.log->truncate(92);  // All of it, without another record.
  REQUIRE(again.log->settle());
  place.restart();
  Read empty = open_log(place.disk);
  CHECK(empty.bodies.empty());
  CHECK(empty.log->next() == 92);
  REQUIRE(commit(*empty.log, 1));
  place.restart();
  CHECK(holds(open_log(place.disk), 92, 92));
}

TEST_CASE_TEMPLATE("another's log is refused, and nothing is left of one that is erased", Place,
                   InMemory, InDirectory) {
  Place place;
  REQUIRE(commit(*open_log(place.disk).log, 3));
  place.restart();
  const Read other = open_log(place.disk, small_segment, 8);
  REQUIRE(other.error);
  CHECK(other.error->code == Errc::refused);
  CHECK(contains(other.error->message,
                 "log-0000000000000001: want the log of owner 8, found that of 7"));
  REQUIRE(LogFile::erase(place.disk));
  CHECK(open_log(place.disk, small_segment, 8).bodies.empty());
}

TEST_CASE_TEMPLATE("an error of the visitor ends the reading", Place, InMemory, InDirectory) {
  Place place;
  REQUIRE(commit(*open_log(place.disk).log, 3));
  place.restart();
  const auto log = LogFile::open(place.disk, {7, small_segment, 0}, [](LogSequence, Bytes) {
    return Result<Done>(Error{Errc::failed, "no such record"});
  });
  CHECK(log.error().message == "no such record");
}

TEST_CASE("whatever a crash leaves, what was committed is there and the rest is a beginning") {
  int cut = 0, kept_more = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    LogSequence committed = 0, written = 0, floor = 1;
    // Several lives, each ended at any call to the disk: while files are made and removed, too.
    for (int life = 0; life < 6; ++life) {
      disk.stop_after(random.below(60));
      Read read = open_log(disk);
      while (!read.error) {
        const int records = 1 + static_cast<int>(random.below(9));
        written = read.log->next() - 1 + static_cast<LogSequence>(records);
        if (random.chance(0.2) && committed > 2) {
          floor = std::max<LogSequence>(floor, random.below(committed));
          read.log->truncate(floor);
        }
        auto done = commit(*read.log, records, random.chance(0.5));
        if (!done) break;
        committed = *done;
        if (random.chance(0.1) && !read.log->settle()) break;
      }
      random.chance(0.7) ? disk.crash() : disk.restart();

      Read after = open_log(disk);
      REQUIRE_MESSAGE(!after.error, after.error->message);
      CHECK(after.log->next() > committed);
      CHECK(after.log->next() <= std::max(written, committed) + 1);
      const LogSequence first = after.bodies.empty() ? after.log->next() : after.first;
      CHECK(first <= std::max(floor, LogSequence{1}));
      CHECK(holds(after, first, after.log->next() - 1));
      if (!after.log->condition().cut.empty()) cut += 1;
      if (after.log->next() > committed + 1) kept_more += 1;
      // What came back is the log's from now on: it has been synced.
      committed = after.log->next() - 1;
      if (random.chance(0.5)) disk.crash();
    }
  }
  CHECK(cut > 100);
  CHECK(kept_more > 50);
}

TEST_CASE("a record that is damaged anywhere is noticed, and no other is lost for it") {
  int noticed = 0, harmless = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    {
      Read read = open_log(disk);
      for (int i = 0; i < 25; ++i)
        REQUIRE(commit(*read.log, 1 + static_cast<int>(random.below(4))));
      // With and without a loss of power: the mark of the end is there because it was idle.
      REQUIRE(read.log->settle());
    }
    const LogSequence last = open_log(disk).log->next() - 1;
    random.chance(0.5) ? disk.crash() : disk.restart();
    REQUIRE(disk.rot_somewhere("log-"));

    const Read after = open_log(disk);
    if (after.error) {
      CHECK(after.error->code != Errc::io);
      noticed += 1;
    } else {
      // Only a mark of the end, of this file or one before, may be damaged without harm.
      CHECK(holds(after, 1, last));
      harmless += 1;
    }
  }
  CHECK(noticed > 550);
  CHECK(harmless > 0);
}

TEST_CASE("damage in the last record is told from a crash, if the process only was killed") {
  MemoryDisk disk;
  REQUIRE(commit(*open_log(disk).log, 3));
  disk.restart();
  disk.rot("log-0000000000000001", 64 + 40 + 8, 1);  // The body of the first.

  const Read after = open_log(disk);
  REQUIRE(after.error);
  CHECK(after.error->code == Errc::corrupt);
  CHECK(after.error->message ==
        "log-0000000000000001: want record 1 at 64, found other bytes, and later ones that say it "
        "was there: records are lost that were durable");
}

TEST_CASE("a file of the log that is gone is missed") {
  for (const bool first : {true, false}) {
    MemoryDisk disk;
    {
      Read read = open_log(disk);
      for (int i = 0; i < 30; ++i) REQUIRE(commit(*read.log, 3));
    }
    const auto names = *disk.list();
    REQUIRE(disk.remove(first ? names.front() : names[2]));
    const Read after = open_log(disk);
    REQUIRE(after.error);
    CHECK(after.error->code == Errc::corrupt);
    CHECK(contains(after.error->message, "records are lost that were durable"));
  }
}

TEST_CASE("a write that went astray is noticed once another was durable behind it") {
  for (std::uint64_t by = 8; by < 600; by += 8) {
    CAPTURE(by);
    MemoryDisk disk;
    {
      Read read = open_log(disk, 4'096);
      REQUIRE(commit(*read.log, 3));
      disk.misdirect_next_write(by);
      REQUIRE(commit(*read.log, 1, false));
      REQUIRE(commit(*read.log, 2));
    }
    disk.restart();
    const Read after = open_log(disk, 4'096);
    REQUIRE(after.error);
    CHECK(after.error->code == Errc::corrupt);
  }
}

TEST_CASE("after a sync that failed the log takes nothing more, though the disk works again") {
  MemoryDisk disk(3, {.loss = 0, .tear = 0});
  Read read = open_log(disk);
  REQUIRE(commit(*read.log, 3));
  disk.fail_syncs(1);
  const auto failed = commit(*read.log, 1);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == Errc::io);
  CHECK(contains(failed.error().message, "the log is closed until a restart"));
  CHECK(commit(*read.log, 1).error().message == failed.error().message);
  CHECK(read.log->settle().error().message == failed.error().message);
  disk.crash();
  CHECK(holds(open_log(disk), 1, 3));
}

TEST_CASE("a full disk is an error before anything is promised, and what was there stays") {
  MemoryDisk disk;
  Read read = open_log(disk);
  disk.set_capacity(3 * small_segment);
  LogSequence last = 0;
  std::optional<Error> error;
  for (int i = 0; i < 100 && !error; ++i) {
    auto done = commit(*read.log, 3);
    if (done)
      last = *done;
    else
      error = done.error();
  }
  REQUIRE(error);
  CHECK(contains(error->message, "No space left on device"));
  CHECK(last > 10);
  disk.crash();
  disk.set_capacity(100 * small_segment);
  Read after = open_log(disk);
  REQUIRE_FALSE(after.error);
  CHECK(after.log->next() > last);
  CHECK(commit(*after.log, 1));
}

TEST_CASE("bytes of all kinds in the place of a log are an error and never a record") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    MemoryDisk disk(seed);
    Buffer noise;
    const auto size = static_cast<std::size_t>(random.below(3'000));
    for (std::size_t i = 0; i < size; ++i) {
      *noise.extend(1) = static_cast<std::byte>(random.chance(0.5) ? 0 : random.next());
    }
    const std::array<Bytes, 1> pieces{noise};
    REQUIRE(disk.replace("log-0000000000000001", pieces));
    const Read read = open_log(disk);
    // A first file that was never finished is what a crash leaves, too: an empty log.
    if (!read.error) CHECK(read.bodies.empty());
  }
}

}  // namespace piracema::store
