#include "store/snapshot/directory_store.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "base/hint.h"
#include "base/testing.h"

namespace {

// What the store asks of the system, in order, and what shall fail: the functions below take the
// place of the C library's in this program.
std::vector<std::string> calls;
std::string failing;

std::string path_of(int fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).string();
}

// The name without directories in front and without the temporary end.
std::string short_name(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find(".tmp-"));
}

bool noted(const std::string& call) {
  calls.push_back(call);
  if (call == failing) errno = EIO;
  return call != failing;
}

std::size_t at(const std::string& call, std::size_t from = 0) {
  const auto begin = calls.begin() + static_cast<std::ptrdiff_t>(from);
  const auto found = std::find(begin, calls.end(), call);
  CAPTURE(call);
  REQUIRE(found != calls.end());
  return static_cast<std::size_t>(found - calls.begin());
}

}  // namespace

extern "C" int fsync(int fd) {
  return noted("sync " + short_name(path_of(fd))) ? static_cast<int>(syscall(SYS_fsync, fd)) : -1;
}
extern "C" int fdatasync(int fd) {
  return noted("sync " + short_name(path_of(fd))) ? static_cast<int>(syscall(SYS_fdatasync, fd))
                                                  : -1;
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (!noted("rename " + short_name(to))) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace piracema::store {

using namespace testing;

namespace {

std::unique_ptr<DirectoryStore> open_in(const ScratchDirectory& scratch) {
  auto store = open_directory_store(scratch.path() + "/snapshots", true);
  REQUIRE(store);
  return *std::move(store);
}

// Two replicas and their manifest, as far as it goes.
Result<Done> take(SnapshotStore& store, SnapshotId snapshot) {
  Manifest manifest;
  manifest.snapshot = snapshot;
  for (ReplicaId replica = 0; replica < 2; ++replica) {
    auto part = store.put(snapshot, replica, as_bytes("state"));
    if (!part) return part.error();
    manifest.parts.push_back(*part);
  }
  return store.commit(manifest);
}

Error error_of_open(const std::string& path, bool create) {
  const auto store = open_directory_store(path, create);
  REQUIRE_FALSE(store);
  return store.error();
}

}  // namespace

TEST_CASE("each byte and name is durable before the manifest that vouches for it has its name") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  calls.clear();
  REQUIRE(take(*store, 7));

  CHECK(at("sync part-0000") < at("rename part-0000"));
  CHECK(at("sync part-0001") < at("rename part-0001"));
  const std::size_t names = at("sync 000000000007", at("rename part-0001"));
  CHECK(names < at("rename manifest.json"));
  CHECK(at("sync manifest.json") < at("rename manifest.json"));
  const std::size_t complete = at("rename manifest.json");
  CHECK(at("sync 000000000007", complete) > complete);
  CHECK(at("sync snapshots", complete) > complete);
}

TEST_CASE("a snapshot is gone for good before its parts are removed") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  REQUIRE(take(*store, 7));
  calls.clear();

  failing = "sync 000000000007";
  const auto dropped = store->drop(7);
  failing.clear();

  REQUIRE_FALSE(dropped);
  CHECK(dropped.error().code == Errc::io);
  CHECK(std::filesystem::exists(store->path() + "/000000000007/part-0000"));
  CHECK(store->drop(7).ok());
  CHECK_FALSE(std::filesystem::exists(store->path() + "/000000000007"));
}

TEST_CASE("whatever step of a snapshot fails, it is not complete and the next attempt is") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  for (const char* step : {"sync part-0001", "rename part-0001", "sync 000000000007",
                           "sync manifest.json", "rename manifest.json", "sync snapshots"}) {
    CAPTURE(step);
    failing = step;
    const auto taken = take(*store, 7);
    failing.clear();

    REQUIRE_FALSE(taken);
    CHECK(taken.error().code == Errc::io);
    CHECK(contains(taken.error().message, ": Input/output error"));
    CHECK(taken.error().message.starts_with(store->path()));
    CHECK(store->list()->empty());
    for (const auto& entry : std::filesystem::directory_iterator(store->path() + "/000000000007")) {
      CHECK_FALSE(contains(entry.path().string(), ".tmp-"));
    }

    CHECK(take(*store, 7).ok());
    CHECK(verify(*store, 7).ok());
    CHECK(store->drop(7).ok());
  }
}

TEST_CASE("a directory is made, found again, and never taken over from somebody else") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/snapshots";

  CHECK(error_of_open(path, false).code == Errc::not_found);
  CHECK(error_of_open(path, false).message == path + ": want a snapshot directory, found nothing");
  CHECK(error_of_open("", true).code == Errc::config);
  CHECK(contains(error_of_open(scratch.path() + "/a/b", true).message,
                 "/a/b: cannot make directory: No such file or directory"));

  std::filesystem::create_directory(path);
  CHECK(error_of_open(path, false).message ==
        path + ": want a snapshot directory, found an empty one");
  CHECK(open_directory_store(path + "//", true).ok());
  CHECK(open_directory_store(path, true).ok());
  CHECK(open_directory_store(path, false).ok());

  overwrite(scratch.path() + "/letter", "Dear Sir");
  for (const bool create : {false, true}) {
    CHECK(error_of_open(scratch.path() + "/letter", create).message ==
          scratch.path() + "/letter: want a snapshot directory, found a file");
    std::filesystem::create_directories(scratch.path() + "/home/letters");
    CHECK(error_of_open(scratch.path() + "/home", create).message ==
          scratch.path() + "/home: want a snapshot directory, found one that holds \"letters\"");
  }
}

TEST_CASE("the root of a file system that is still empty can be a snapshot directory") {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.path() + "/lost+found");
  CHECK(open_directory_store(scratch.path(), true).ok());
}

TEST_CASE("a directory that has lost its mark is known by its snapshots") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  REQUIRE(take(*store, 7));
  std::filesystem::remove(store->path() + "/piracema.lock");
  CHECK(open_directory_store(store->path(), false).ok());
}

TEST_CASE("the store stays where it is although the program changes its directory") {
  const ScratchDirectory scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  auto store = open_directory_store("snapshots", true);
  std::filesystem::current_path(before);
  REQUIRE(store);

  CHECK(take(**store, 1).ok());
  CHECK(std::filesystem::exists(scratch.path() + "/snapshots/000000000001/manifest.json"));
}

TEST_CASE("a snapshot that is committed twice is complete once, and never by another manifest") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  REQUIRE(take(*store, 7));
  auto manifest = store->manifest(7);
  REQUIRE(manifest);
  manifest->created += 5;
  CHECK(store->commit(*manifest).ok());
  CHECK(store->manifest(7)->created + 5 == manifest->created);
  manifest->epoch += 1;
  const auto other = store->commit(*manifest);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == Errc::refused);
  CHECK(store->drop(7).ok());
  CHECK(store->drop(7).ok());
}

TEST_CASE("a directory is locked by one coordinator at a time, and the other one learns by whom") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  const auto other = open_in(scratch);
  const std::string in_use =
      store->path() + ": want it for one job alone, found it in use by process ";
  {
    const auto lock = store->lock();
    REQUIRE(lock);
    const auto second = other->lock();
    REQUIRE_FALSE(second);
    CHECK(second.error().code == Errc::refused);
    CHECK(split_hint(second.error().message).message == in_use + std::to_string(::getpid()));
    CHECK(split_hint(in_child([&] { return other->lock().error().message; })).message ==
          in_use + std::to_string(::getpid()));
  }
  CHECK(other->lock().ok());
}

TEST_CASE("the lock ends with the process that had it, even by SIGKILL") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto lock = store->lock();
    const char held = lock ? 'y' : 'n';
    if (::write(ready[1], &held, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char held = 0;
  REQUIRE(::read(ready[0], &held, 1) == 1);
  CHECK(held == 'y');
  const auto refused = store->lock();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "in use by process " + std::to_string(child)));

  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(store->lock().ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a lock file that holds anything else does not hurt the message") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  const auto lock = store->lock();
  REQUIRE(lock);
  overwrite(store->path() + "/piracema.lock", std::string(100'000, '\x1b'));
  CHECK(contains(store->lock().error().message, "found it in use by another process"));
}

TEST_CASE("aborted attempts are swept away up to the one that is being made") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  REQUIRE(take(*store, 2));
  for (const SnapshotId attempt : {1u, 3u, 4u}) REQUIRE(store->put(attempt, 0, as_bytes("state")));
  overwrite(store->path() + "/000000000003/part-0001.tmp-99-1", "torn");

  CHECK(store->sweep(4).ok());

  CHECK_FALSE(std::filesystem::exists(store->path() + "/000000000001"));
  CHECK(std::filesystem::exists(store->path() + "/000000000002"));
  CHECK_FALSE(std::filesystem::exists(store->path() + "/000000000003"));
  CHECK(std::filesystem::exists(store->path() + "/000000000004"));
}

TEST_CASE("names that no snapshot has are left alone") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  for (const char* name : {"7", "00000000007", "0000000000007", "000000000000", "00000000000x",
                           "99999999999999999999999", "000000000007 "}) {
    std::filesystem::create_directory(store->path() + "/" + name);
    overwrite(store->path() + "/" + name + "/manifest.json", "{}");
  }
  CHECK(store->list()->empty());
  CHECK(store->sweep(1'000).ok());
  CHECK(std::filesystem::exists(store->path() + "/0000000000007"));
}

TEST_CASE("the largest number has a directory, too") {
  const ScratchDirectory scratch;
  const auto store = open_in(scratch);
  const SnapshotId last = ~SnapshotId{0};
  REQUIRE(take(*store, last));
  CHECK(*store->list() == std::vector<SnapshotId>{last});
}

}  // namespace piracema::store
