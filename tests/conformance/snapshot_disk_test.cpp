// A directory of snapshots on a disk that is full or read-only, and processes that are killed.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <ctime>

#include "base/hint.h"
#include "snapshot_stores.h"

namespace piracema::store {

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

std::string end_of(const std::string& text) {
  const std::string_view message = split_hint(text).message;
  return std::string(message.substr(message.rfind(": ") + 2));
}

// A part that fits no more in the middle, and what is then tried with it. Empty if nothing is left.
std::string overfill_in_pieces(DirectoryStore& store) {
  const Keyed keyed({2, 0}, 500'000);
  auto stream = store.begin_part(2, 0);
  if (!stream) return stream.error().message;
  Result<Done> appended = Done{};
  std::size_t pieces = 0;
  for (std::size_t at = 0; at < keyed.data.size() && appended; at += 10'000, ++pieces) {
    appended = (*stream)->append(as_bytes(keyed.data.substr(at, 10'000)));
  }
  if (appended || pieces < 2) return "no piece failed, or the first one";
  if (appended.error().code != Errc::io) return "another code for a piece";
  if ((*stream)->append(as_bytes("more"))) return "a piece behind one that failed";
  if ((*stream)->finish(keyed.index)) return "a part without a piece";
  stream->reset();
  return std::filesystem::is_empty(store.path() + "/000000000002") ? "" : "a piece was left";
}

// Snapshot 1 fits, 2 does not. Returns what was wrong, or the system's reason.
std::string overfill(DirectoryStore& store) {
  const std::string large(1'000'000, 'x');
  if (auto manifest = put_all(store, 1); !manifest || !store.commit(*manifest)) return "no start";
  auto put = store.put(2, 0, as_bytes(large));
  if (put) return "it fitted";
  if (put.error().code != Errc::io) return "another code";
  if (!contains(put.error().message, "000000000002/part-0000: cannot ")) return put.error().message;
  if (!std::filesystem::is_empty(store.path() + "/000000000002")) return "something was left";
  if (const std::string wrong = overfill_in_pieces(store); !wrong.empty()) return wrong;
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
        }) == "files may have 100000 bytes here (ulimit -f)");
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
    for (const auto& error : {(*store)->put(3, 0, Bytes()).error(), (*store)->commit(*second).error(),
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
    const Keyed keyed({next, 3}, 10'000);
    auto stream = store.begin_part(next, 3);
    if (!stream) ::_exit(5);
    for (std::size_t at = 0; at < keyed.data.size(); at += 5'000) {
      if (!(*stream)->append(as_bytes(keyed.data.substr(at, 5'000)))) ::_exit(6);
    }
    auto part = (*stream)->finish(keyed.index);
    if (!part) ::_exit(7);
    manifest.parts.push_back(*part);
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
