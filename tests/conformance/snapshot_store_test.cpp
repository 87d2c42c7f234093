#include "store/snapshot_store.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <ctime>
#include <thread>

#include "base/random.h"
#include "base/text.h"
#include "store/directory_store.h"
#include "store/memory_store.h"
#include "store/testing.h"

// What every store has to do, and what a directory has to stand.

namespace piracema::store {

namespace {

struct InMemory {
  MemoryStore store;
};

struct InDirectory {
  ScratchDirectory scratch;
  std::unique_ptr<DirectoryStore> opened = *open_directory_store(scratch.path() + "/d", true);
  DirectoryStore& store = *opened;

  std::string manifest(SnapshotId snapshot) const {
    return concat(store.path(), "/00000000000", snapshot, "/manifest.json");
  }
  std::string part(SnapshotId snapshot, ReplicaId replica) const {
    return concat(store.path(), "/00000000000", snapshot, "/part-000", replica);
  }
};

std::string state_of(SnapshotId snapshot, ReplicaId replica) {
  return concat("state of replica ", replica, " in snapshot ", snapshot);
}

// A snapshot of `replicas`, without its manifest being written.
Result<Manifest> put_all(SnapshotStore& store, SnapshotId snapshot, ReplicaId replicas = 2) {
  Manifest manifest;
  manifest.snapshot = snapshot;
  manifest.epoch = 3;
  manifest.job = std::string("graph\0\xff", 7);
  manifest.created = 1'700'000'000;
  for (ReplicaId replica = 0; replica < replicas; ++replica) {
    auto part = store.put(snapshot, replica, as_bytes(state_of(snapshot, replica)));
    if (!part) return part.error();
    manifest.parts.push_back(*part);
  }
  return manifest;
}

Manifest take(SnapshotStore& store, SnapshotId snapshot, ReplicaId replicas = 2) {
  auto manifest = put_all(store, snapshot, replicas);
  REQUIRE(manifest);
  REQUIRE(store.commit(*manifest));
  return *manifest;
}

// The newest snapshot, or 0; what was passed by goes to `refused`.
SnapshotId newest(SnapshotStore& store, std::vector<Error>* refused = nullptr) {
  std::vector<Error> errors;
  const auto manifest = newest_intact(store, errors);
  REQUIRE(manifest);
  if (refused != nullptr) *refused = errors;
  return *manifest ? (*manifest)->snapshot : 0;
}

// Whether the snapshot reads back as it was put; if not, that an error names `file`.
bool intact_or_named(SnapshotStore& store, const Manifest& want, const std::string& file) {
  const auto manifest = verify(store, want.snapshot);
  if (!manifest) {
    const Error& error = manifest.error();
    CHECK((error.code == Errc::corrupt || error.code == Errc::refused));
    CHECK(error.message.starts_with(file + ": "));
    return false;
  }
  CHECK(*manifest == want);
  for (const Part& part : manifest->parts) {
    const auto state = store.get(want.snapshot, part);
    REQUIRE(state);
    CHECK(as_text(*state) == state_of(want.snapshot, part.replica));
  }
  return true;
}

}  // namespace

// ---- every store ---------------------------------------------------------------------------

TEST_CASE_TEMPLATE("a snapshot that is committed reads back as it was put", Fixture, InDirectory,
                   InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest first = take(store, 1);
  const Manifest second = take(store, 2, 5);

  CHECK(*store.list() == std::vector<SnapshotId>{1, 2});
  CHECK(*store.manifest(1) == first);
  CHECK(*store.manifest(2) == second);
  const auto state = store.get(2, second.parts[4]);
  REQUIRE(state);
  CHECK(as_text(*state) == state_of(2, 4));
}

TEST_CASE_TEMPLATE("an empty state and one of a few megabytes read back", Fixture, InDirectory,
                   InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  std::string large(5'000'000, 0);
  Random random(1);
  for (char& c : large) c = static_cast<char>(random.next());
  const auto empty_part = store.put(1, 0, {});
  const auto large_part = store.put(1, 1, as_bytes(large));
  REQUIRE(empty_part);
  REQUIRE(large_part);
  CHECK(large_part->bytes == large.size());

  CHECK(store.get(1, *empty_part)->empty());
  CHECK(as_text(*store.get(1, *large_part)) == large);
}

TEST_CASE_TEMPLATE("a snapshot that is not committed is not there", Fixture, InDirectory,
                   InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  REQUIRE(put_all(store, 1));

  CHECK(store.list()->empty());
  CHECK(store.manifest(1).error().code == Errc::not_found);
  CHECK(newest(store) == 0);
}

TEST_CASE_TEMPLATE("another attempt overwrites what an aborted one left", Fixture, InDirectory,
                   InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  REQUIRE(store.put(1, 0, as_bytes("a state that is longer than the next one will be")));
  REQUIRE(store.put(1, 1, as_bytes("short")));

  const Manifest manifest = take(store, 1);
  CHECK(intact_or_named(store, manifest, ""));
}

TEST_CASE_TEMPLATE("a late put or commit does not change a snapshot that is complete", Fixture,
                   InDirectory, InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest manifest = take(store, 1);

  CHECK(store.put(1, 0, as_bytes("late")).error().code == Errc::refused);
  CHECK(store.commit({.snapshot = 1}).error().code == Errc::refused);
  CHECK(intact_or_named(store, manifest, ""));
}

TEST_CASE_TEMPLATE("a snapshot without one of its parts is not committed", Fixture, InDirectory,
                   InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  auto manifest = put_all(store, 1);
  REQUIRE(manifest);
  manifest->parts.push_back({9, 1, 1});

  const auto committed = store.commit(*manifest);
  REQUIRE_FALSE(committed);
  CHECK(committed.error().code == Errc::not_found);
  CHECK(contains(committed.error().message, "000000000001/part-0009: "));
  CHECK(store.list()->empty());
}

TEST_CASE_TEMPLATE("what is dropped is gone, complete or not, and may come again", Fixture,
                   InDirectory, InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  take(store, 1);
  REQUIRE(put_all(store, 2));

  CHECK(store.drop(1).ok());
  CHECK(store.drop(2).ok());
  CHECK(store.drop(3).ok());
  CHECK(store.list()->empty());
  CHECK(store.commit({.snapshot = 2, .parts = {{0, 1, 1}}}).error().code == Errc::not_found);
  CHECK(intact_or_named(store, take(store, 1), ""));
}

TEST_CASE_TEMPLATE("the entry of another part does not fit", Fixture, InDirectory, InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  const Manifest manifest = take(store, 1);
  Part part = manifest.parts[0];
  SUBCASE("another length") { part.bytes += 1; }
  SUBCASE("a length beyond all bounds") { part.bytes = ~std::uint64_t{0}; }
  SUBCASE("another checksum") { part.checksum += 1; }
  SUBCASE("a replica without a part") { part.replica = 7; }

  const auto state = store.get(1, part);
  REQUIRE_FALSE(state);
  CHECK(state.error().code == Errc::corrupt);
  CHECK(contains(state.error().message, "000000000001/part-000"));
}

TEST_CASE_TEMPLATE("four threads put their replicas at once", Fixture, InDirectory, InMemory) {
  Fixture fixture;
  SnapshotStore& store = fixture.store;
  constexpr ReplicaId threads = 4, each = 8;
  Manifest manifest;
  manifest.snapshot = 1;
  manifest.parts.resize(threads * each);
  std::vector<std::thread> running;
  for (ReplicaId thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (ReplicaId i = 0; i < each; ++i) {
        const ReplicaId replica = thread * each + i;
        const auto part = store.put(1, replica, as_bytes(state_of(1, replica)));
        if (part) manifest.parts[replica] = *part;
      }
    });
  }
  for (std::thread& thread : running) thread.join();

  REQUIRE(store.commit(manifest));
  CHECK(intact_or_named(store, manifest, ""));
}

// ---- a directory ---------------------------------------------------------------------------

TEST_CASE("the newest intact snapshot is used, and each one that is passed by names its file") {
  InDirectory fixture;
  for (SnapshotId snapshot = 1; snapshot <= 5; ++snapshot) take(fixture.store, snapshot);
  overwrite(fixture.manifest(5), "{");
  std::filesystem::remove(fixture.part(4, 1));
  std::filesystem::resize_file(fixture.part(3, 0), 40);

  std::vector<Error> refused;
  CHECK(newest(fixture.store, &refused) == 2);
  REQUIRE(refused.size() == 3);
  CHECK(refused[0].message == fixture.manifest(5) + ": want JSON, found something else at byte 2");
  CHECK(refused[1].message == fixture.part(4, 1) + ": no such file");
  CHECK(refused[2].message == fixture.part(3, 0) + ": want 72 bytes, found 40");
}

TEST_CASE("every bit of a snapshot can flip: it is noticed or does not matter") {
  InDirectory fixture;
  take(fixture.store, 1);
  const Manifest manifest = take(fixture.store, 2);
  int noticed = 0, harmless = 0;
  for (const std::string& file : {fixture.manifest(2), fixture.part(2, 0), fixture.part(2, 1)}) {
    const std::string good = contents(file);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        CAPTURE(at);
        CAPTURE(bit);
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
        overwrite(file, bad);
        const bool intact = intact_or_named(fixture.store, manifest, file);
        (intact ? harmless : noticed) += 1;
        CHECK(newest(fixture.store) == (intact ? 2 : 1));
        // Only white space between the words of the manifest may become other white space.
        if (intact) CHECK((contains(" \n", std::string(1, good[at])) && file.ends_with("json")));
      }
    }
    overwrite(file, good);
  }
  CHECK(noticed > 3'000);
  CHECK(harmless < 500);
}

TEST_CASE("a snapshot can be cut anywhere: it is noticed or does not matter") {
  InDirectory fixture;
  take(fixture.store, 1);
  const Manifest manifest = take(fixture.store, 2);
  for (const std::string& file : {fixture.manifest(2), fixture.part(2, 0), fixture.part(2, 1)}) {
    const std::string good = contents(file);
    for (std::size_t length = 0; length < good.size(); ++length) {
      CAPTURE(length);
      overwrite(file, good.substr(0, length));
      const bool intact = intact_or_named(fixture.store, manifest, file);
      // The end of the last line of the manifest is all that it can do without.
      CHECK(intact == (file.ends_with("json") && length + 1 == good.size()));
      CHECK(newest(fixture.store) == (intact ? 2 : 1));
    }
    overwrite(file, good + "junk");
    CHECK_FALSE(intact_or_named(fixture.store, manifest, file));
    overwrite(file, good);
  }
}

TEST_CASE("a part in the place of another one is refused") {
  InDirectory fixture;
  // The same states, so that nothing but the headers can tell them apart.
  Manifest first{.snapshot = 1}, second{.snapshot = 2};
  for (ReplicaId replica = 0; replica < 2; ++replica) {
    first.parts.push_back(*fixture.store.put(1, replica, as_bytes("same")));
    second.parts.push_back(*fixture.store.put(2, replica, as_bytes("same")));
  }
  REQUIRE(fixture.store.commit(first));
  REQUIRE(fixture.store.commit(second));
  std::string want;
  SUBCASE("two parts of one snapshot swapped") {
    std::filesystem::rename(fixture.part(2, 0), fixture.part(2, 2));
    std::filesystem::rename(fixture.part(2, 1), fixture.part(2, 0));
    std::filesystem::rename(fixture.part(2, 2), fixture.part(2, 1));
    want = "want snapshot 2 of replica 0, found snapshot 2 of replica 1";
  }
  SUBCASE("the part of an older snapshot copied over") {
    std::filesystem::copy_file(fixture.part(1, 0), fixture.part(2, 0),
                               std::filesystem::copy_options::overwrite_existing);
    want = "want snapshot 2 of replica 0, found snapshot 1 of replica 0";
  }

  std::vector<Error> refused;
  CHECK(newest(fixture.store, &refused) == 1);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].message == fixture.part(2, 0) + ": " + want);
}

TEST_CASE("a manifest in the place of another one is refused") {
  InDirectory fixture;
  take(fixture.store, 1);
  take(fixture.store, 2);
  overwrite(fixture.manifest(2), contents(fixture.manifest(1)));

  std::vector<Error> refused;
  CHECK(newest(fixture.store, &refused) == 1);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].message == fixture.manifest(2) + ": want snapshot 2, found 1");
}

TEST_CASE("what lies in the place of a file is refused by its kind") {
  for (const bool of_manifest : {false, true}) {
    for (const std::string target : {"", "nowhere", "/dev/zero"}) {
      CAPTURE(of_manifest);
      CAPTURE(target);
      InDirectory fixture;
      take(fixture.store, 1);
      take(fixture.store, 2);
      const std::string file = of_manifest ? fixture.manifest(2) : fixture.part(2, 1);
      std::filesystem::remove(file);
      if (target.empty()) {
        std::filesystem::create_directories(file + "/deeper");
      } else {
        std::filesystem::create_symlink(target, file);
      }

      std::vector<Error> refused;
      CHECK(newest(fixture.store, &refused) == 1);
      REQUIRE(refused.size() == 1);
      CHECK(refused[0].message == file + ": want a regular file, found " +
                                      (target.empty() ? "a directory" : "a symbolic link"));
      CHECK(fixture.store.drop(2).ok());
      CHECK(*fixture.store.list() == std::vector<SnapshotId>{1});
    }
  }
}

TEST_CASE("a file that claims a huge state is refused before any room is made for it") {
  InDirectory fixture;
  const Manifest manifest = take(fixture.store, 1);
  std::filesystem::resize_file(fixture.part(1, 0), std::uintmax_t{1} << 42);
  std::filesystem::resize_file(fixture.manifest(1), std::uintmax_t{1} << 42);

  CHECK(contains(fixture.store.manifest(1).error().message, "want at most 8388608 bytes"));
  CHECK(contains(fixture.store.get(1, manifest.parts[0]).error().message,
                 "want 72 bytes, found 4398046511104"));
}

TEST_CASE("another version of the format says which one was found") {
  InDirectory fixture;
  const Manifest manifest = take(fixture.store, 1);
  std::string file, text;
  SUBCASE("in a manifest") {
    file = fixture.manifest(1);
    text = contents(file);
    text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  }
  SUBCASE("in a part") {
    file = fixture.part(1, 0);
    text = contents(file);
    text[8] = 2;
  }
  overwrite(file, text);

  std::vector<Error> refused;
  const auto found = newest_intact(fixture.store, refused);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Errc::refused);
  CHECK(found.error().message == file + ": this program reads version 1 of the format, found 2");

  take(fixture.store, 2);
  CHECK(newest(fixture.store) == 2);
}

TEST_CASE("temporary files that a crash left disturb nothing and go with their snapshot") {
  InDirectory fixture;
  const Manifest manifest = take(fixture.store, 1);
  overwrite(fixture.part(1, 0) + ".tmp-1-1", "torn");
  overwrite(fixture.manifest(1) + ".tmp-1-2", "{");
  CHECK(intact_or_named(fixture.store, manifest, ""));

  REQUIRE(put_all(fixture.store, 2));
  overwrite(fixture.manifest(2) + ".tmp-1-3", contents(fixture.manifest(1)));
  CHECK(newest(fixture.store) == 1);
  CHECK(fixture.store.drop(1).ok());
  CHECK(fixture.store.drop(2).ok());
  CHECK_FALSE(std::filesystem::exists(fixture.store.path() + "/000000000001"));
}

TEST_CASE("a store whose directory is gone says so") {
  InDirectory fixture;
  std::filesystem::remove_all(fixture.store.path());
  std::vector<Error> refused;
  const auto found = newest_intact(fixture.store, refused);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Errc::io);
  CHECK(found.error().message ==
        fixture.store.path() + ": cannot open directory: No such file or directory");
  CHECK(fixture.store.put(1, 0, {}).error().message ==
        fixture.store.path() + "/000000000001: cannot make directory: No such file or directory");
}

// ---- a disk that is full or read-only ------------------------------------------------------

namespace {

// Puts a small file system of its own over `path`, for this process only; as root or in a user
// namespace. False where the machine permits neither.
bool mount_small(const std::string& path) {
  const std::string uid = concat("0 ", ::getuid(), " 1"), gid = concat("0 ", ::getgid(), " 1");
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << uid;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/gid_map") << gid;
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=256k") == 0;
}

std::string end_of(const std::string& text) { return text.substr(text.rfind(": ") + 2); }

// Snapshot 1 fits, 2 does not. Returns what was wrong, or the system's reason.
std::string overfill(DirectoryStore& store) {
  const std::string large(1'000'000, 'x');
  if (auto manifest = put_all(store, 1); !manifest || !store.commit(*manifest)) return "no start";
  auto put = store.put(2, 0, as_bytes(large));
  if (put) return "it fitted";
  if (put.error().code != Errc::io) return "another code";
  if (!contains(put.error().message, "000000000002/part-0000: cannot ")) return put.error().message;
  if (!std::filesystem::is_empty(store.path() + "/000000000002")) return "something was left";
  std::vector<Error> refused;
  auto found = newest_intact(store, refused);
  if (!found || !*found || (*found)->snapshot != 1 || !refused.empty()) return "snapshot 1 is lost";
  if (auto again = put_all(store, 2); !again || !store.commit(*again)) return "no room again";
  return end_of(put.error().message);
}

}  // namespace

TEST_CASE("a file above the limit of the process fails that snapshot and nothing else") {
  InDirectory fixture;
  CHECK(in_child([&]() -> std::string {
          ::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{100'000, 100'000};
          if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit could be set";
          return overfill(fixture.store);
        }) == "File too large");
  CHECK(newest(fixture.store) == 2);
}

TEST_CASE("a full disk fails that snapshot and nothing else") {
  const ScratchDirectory scratch;
  const std::string said = in_child([&]() -> std::string {
    if (!mount_small(scratch.path())) return "not permitted";
    auto store = open_directory_store(scratch.path() + "/d", true);
    return store ? overfill(**store) : store.error().message;
  });
  if (said == "not permitted") {
    MESSAGE("no file system can be mounted here: only the limit of the process was tested");
  } else {
    CHECK(said == "No space left on device");
  }
}

TEST_CASE("a disk that becomes read-only fails what writes, and is still read") {
  const ScratchDirectory scratch;
  const std::string said = in_child([&]() -> std::string {
    if (!mount_small(scratch.path())) return "not permitted";
    const std::string path = scratch.path() + "/d";
    auto store = open_directory_store(path, true);
    if (!store) return store.error().message;
    auto manifest = put_all(**store, 1);
    if (!manifest || !(*store)->commit(*manifest)) return "no start";
    auto second = put_all(**store, 2);
    if (!second) return "no second";
    if (::mount("none", scratch.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return "not permitted";
    }
    std::string reasons;
    for (const auto& error : {(*store)->put(3, 0, {}).error(), (*store)->commit(*second).error(),
                              (*store)->drop(1).error(), (*store)->lock().error(),
                              open_directory_store(scratch.path() + "/e", true).error()}) {
      if (error.code != Errc::io || !contains(error.message, scratch.path())) return "wrong error";
      reasons += end_of(error.message) + "; ";
    }
    if (!open_directory_store(path, true)) return "it does not open";
    return reasons + (verify(**store, 1) ? "read" : "not read");
  });
  if (said == "not permitted") {
    MESSAGE("no file system can be mounted here: only /proc was tested");
  } else {
    std::string want;
    for (int i = 0; i < 5; ++i) want += "Read-only file system; ";
    CHECK(said == want + "read");
  }
}

TEST_CASE("where nothing can be written, nothing is opened") {
  const auto store = open_directory_store("/proc/piracema", true);
  REQUIRE_FALSE(store);
  CHECK(store.error().code == Errc::io);
  CHECK(store.error().message.starts_with("/proc/piracema: cannot make directory: "));
}

// ---- processes that end in the middle ------------------------------------------------------

namespace {

// Takes one snapshot after the other, tells `out` each one that is complete, keeps two.
[[noreturn]] void take_forever(DirectoryStore& store, SnapshotId next, int out) {
  const std::string state(20'000, 'x');
  for (;; ++next) {
    Manifest manifest{.snapshot = next};
    for (ReplicaId replica = 0; replica < 3; ++replica) {
      auto part = store.put(next, replica, as_bytes(state));
      if (!part) ::_exit(1);
      manifest.parts.push_back(*part);
    }
    if (!store.commit(manifest)) ::_exit(2);
    if (::write(out, &next, sizeof next) != sizeof next) ::_exit(3);
    if (next > 2 && !store.drop(next - 2)) ::_exit(4);
  }
}

}  // namespace

TEST_CASE("whenever a process is killed, the last snapshot that it completed is there and whole") {
  InDirectory fixture;
  Random random(1);
  SnapshotId last = 0;
  for (int kill = 0; kill < 50; ++kill) {
    CAPTURE(kill);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      take_forever(fixture.store, last + 1, ends[1]);
    }
    ::close(ends[1]);

    // Killed at some moment within the snapshot after the first one or two.
    SnapshotId told = 0;
    for (std::uint64_t wanted = 1 + random.below(2); wanted > 0; --wanted) {
      REQUIRE(::read(ends[0], &told, sizeof told) == sizeof told);
      last = told;
    }
    const timespec moment{0, static_cast<long>(random.below(3'000'000))};
    ::nanosleep(&moment, nullptr);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (::read(ends[0], &told, sizeof told) == sizeof told) last = told;
    ::close(ends[0]);

    std::vector<Error> refused;
    const SnapshotId found = newest(fixture.store, &refused);
    CHECK(found >= last);
    CHECK(found <= last + 1);
    CHECK(refused.empty());
    last = found;
    CHECK(fixture.store.sweep(last).ok());
  }
}

TEST_CASE("four processes put their replicas at once") {
  InDirectory fixture;
  std::vector<pid_t> children;
  for (ReplicaId replica = 0; replica < 4; ++replica) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      auto store = open_directory_store(fixture.store.path(), false);
      if (!store) ::_exit(1);
      const std::string state = state_of(1, replica);
      ::_exit((*store)->put(1, replica, as_bytes(state)) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  // The coordinator hears length and checksum from the workers; here another store works them out.
  MemoryStore twin;
  const auto manifest = put_all(twin, 1, 4);
  REQUIRE(manifest);
  REQUIRE(fixture.store.commit(*manifest));
  CHECK(intact_or_named(fixture.store, *manifest, ""));
}

}  // namespace piracema::store
