#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/testing.h"
#include "base/text.h"
#include "store/hdfs/hdfs_client.h"
#include "store/hdfs/hdfs_store.h"
#include "store/s3/s3_client.h"
#include "store/s3/s3_store.h"
#include "store/snapshot/directory_store.h"
#include "store/snapshot/memory_store.h"
#include "wire/checksum.h"

/// Stores with snapshots whose contents are known, for the suites in this folder.
namespace piracema::store {

using namespace testing;

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

/// Of a store of objects, so that nobody waits for long.
constexpr Lease::Settings short_lease{.term = std::chrono::seconds(3),
                                      .renew = std::chrono::milliseconds(300)};

/// On the server that the environment names, which has a bucket "tests".
struct InBucket {
  static Result<std::unique_ptr<ObjectStore>> open(const std::string& address, bool create,
                                                   ObjectStoreSettings settings = {}) {
    return open_s3_store(address, create, *S3Server::from_environment(), settings);
  }
  static std::unique_ptr<ObjectClient> client() {
    return *S3Client::make(*S3Server::from_environment(), "tests");
  }
  std::string key(const std::string& rest) const {
    return concat(S3Address::parse(address)->prefix, "/", rest);
  }

  static std::string fresh() {
    static int count = 0;
    return concat("s3://tests/", ::getpid(), "/", ++count);
  }
  std::string address = fresh();
  std::unique_ptr<ObjectStore> opened = *open(address, true);
  ObjectStore& store = *opened;
};

/// On the server that the environment names, in a folder of PIRACEMA_TEST_HDFS.
struct InHdfs {
  static Result<std::unique_ptr<ObjectStore>> open(const std::string& address, bool create,
                                                   ObjectStoreSettings settings = {}) {
    return open_hdfs_store(address, create, settings);
  }
  std::unique_ptr<ObjectClient> client() const {
    return std::make_unique<HdfsClient>(*WebHdfs::make(*HdfsAddress::parse(address), {}));
  }
  std::string key(const std::string& rest) const {
    return concat(HdfsAddress::parse(address)->path, "/", rest);
  }
  static std::string fresh() {
    static int count = 0;
    return concat(std::getenv("PIRACEMA_TEST_HDFS"), "/", ::getpid(), "/", ++count);
  }
  std::string address = fresh();
  std::unique_ptr<ObjectStore> opened = *open(address, true);
  ObjectStore& store = *opened;
};

/// Where there is a server, the suite is for it.
#if defined(PIRACEMA_TEST_S3)
#define EVERY_STORE InBucket
using Remote = InBucket;
#elif defined(PIRACEMA_TEST_HDFS)
#define EVERY_STORE InHdfs
using Remote = InHdfs;
#else
#define EVERY_STORE InDirectory, InMemory
#endif

inline std::string state_of(SnapshotId snapshot, ReplicaId replica) {
  return concat("state of replica ", replica, " in snapshot ", snapshot);
}

// A snapshot of `replicas`, without its manifest being written.
inline Result<Manifest> put_all(SnapshotStore& store, SnapshotId snapshot, ReplicaId replicas = 2) {
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

inline Manifest take(SnapshotStore& store, SnapshotId snapshot, ReplicaId replicas = 2) {
  auto manifest = put_all(store, snapshot, replicas);
  REQUIRE(manifest);
  REQUIRE(store.commit(*manifest));
  return *manifest;
}

// The index of a part that holds "plain" and behind it two units, of `bytes` each; and those.
struct Keyed {
  explicit Keyed(PartFile of, std::size_t bytes = 1'000) {
    std::string units[2];
    for (std::uint32_t i = 0; i < 2; ++i) {
      units[i].assign(bytes, static_cast<char>('a' + i));
      index.units.push_back({i, 0, 0, of, data.size(), bytes, wire::checksum(as_bytes(units[i]))});
      data += units[i];
    }
  }
  std::string data = "plain";
  PartIndex index{5, wire::checksum(as_bytes("plain")), 16, {}};
};

// The newest snapshot, or 0; what was passed by goes to `refused`.
inline SnapshotId newest(SnapshotStore& store, std::vector<Error>* refused = nullptr) {
  std::vector<Error> errors;
  const auto manifest = newest_intact(store, errors);
  REQUIRE(manifest);
  if (refused != nullptr) *refused = errors;
  return *manifest ? (*manifest)->snapshot : 0;
}

// Whether the snapshot reads back as it was put; if not, that an error names `file`.
inline bool intact_or_named(SnapshotStore& store, const Manifest& want, const std::string& file) {
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

}  // namespace piracema::store
