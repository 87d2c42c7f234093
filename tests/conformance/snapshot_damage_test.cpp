// What a directory of snapshots has to stand: files that are torn, swapped, huge or strange.
#include "base/random.h"
#include "snapshot_stores.h"

namespace piracema::store {

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
  std::string file, text, says;
  SUBCASE("in a manifest") {
    file = fixture.manifest(1);
    text = contents(file);
    text.replace(text.find("\"version\": 3"), 12, "\"version\": 4");
    says = "versions 1 to 3 of the format, found 4";
  }
  SUBCASE("in a part") {
    file = fixture.part(1, 0);
    text = contents(file);
    text[8] = 2;
    says = "version 1 of the format, found 2";
  }
  overwrite(file, text);

  std::vector<Error> refused;
  const auto found = newest_intact(fixture.store, refused);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Errc::refused);
  CHECK(found.error().message == file + ": this program reads " + says);

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
  CHECK(fixture.store.put(1, 0, Bytes()).error().message ==
        fixture.store.path() + "/000000000001: cannot make directory: No such file or directory");
}

}  // namespace piracema::store
