#include "tools/run/snapshots.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/testing.h"
#include "state/plain_part.h"
#include "store/snapshot/directory_store.h"
#include "wire/checksum.h"
#include "wire/writer.h"

namespace piracema::tools {

using namespace testing;

namespace {

using testing::contains;
using testing::ScratchDirectory;

// What a replica saves that runs, and had so much under way.
Buffer part_with(const std::string& state, const std::string& under_way = "") {
  Buffer part;
  wire::Writer writer(part);
  writer.number(static_cast<std::uint8_t>(state::Stage::running));
  writer.text(state);
  writer.raw(as_bytes(under_way));
  return part;
}

// Three snapshots of two replicas; the last one at the end of the job.
struct Job {
  ScratchDirectory scratch;
  std::string directory = scratch.path() + "/d";
  std::unique_ptr<store::DirectoryStore> store = *store::open_directory_store(directory, true);

  Job() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    for (const SnapshotId snapshot : {1, 2, 3}) {
      store::Manifest manifest{.snapshot = snapshot, .epoch = 1, .finished = snapshot == 3};
      manifest.created = 1'700'000'000 + snapshot;
      for (ReplicaId replica = 0; replica < 2; ++replica) {
        manifest.parts.push_back(*store->put(snapshot, replica, part_with("a state")));
      }
      REQUIRE(store->commit(manifest));
    }
  }

  std::string file(SnapshotId snapshot, const std::string& name) const {
    return directory + "/00000000000" + std::to_string(snapshot) + "/" + name;
  }
};

/// Snapshots of one replica with states by key. The first has 1,000 bytes of each of three groups,
/// the second what has become of one of these since, the third of another.
struct KeyedJob {
  ScratchDirectory scratch;
  std::string directory = scratch.path() + "/d";
  std::unique_ptr<store::DirectoryStore> store = *store::open_directory_store(directory, true);
  std::vector<store::NamedFile> files;

  KeyedJob() {
    save(1, {0, 1, 2});
    save(2, {1});
    save(3, {2});
  }
  void save(SnapshotId snapshot, const std::vector<std::uint32_t>& changed) {
    const std::string state(1'000, static_cast<char>('a' + snapshot));
    Buffer data = part_with("plain");
    store::PartIndex index{data.size(), wire::checksum(data), 4, {}, files};
    for (const std::uint32_t group : changed) {
      index.units.push_back(
          {group, 0, 0, {snapshot, 0}, data.size(), state.size(), wire::checksum(as_bytes(state))});
      data.append(state.data(), state.size());
    }
    const auto part = store->put_indexed(snapshot, 0, data, index);
    REQUIRE(part);
    REQUIRE(store->commit({.snapshot = snapshot, .epoch = 1, .parts = {*part}}));
    files.push_back({{snapshot, 0}, {0, 4}, store::seal(index.units)});
  }
  std::string part(SnapshotId snapshot) const {
    return directory + "/00000000000" + std::to_string(snapshot) + "/part-0000";
  }
};

}  // namespace

TEST_CASE("of an increment are shown its full size, what was written, and what it depends on") {
  const KeyedJob job;
  const auto list =
      nlohmann::json::parse(describe_snapshots(job.directory, false, true).out)["snapshots"];
  REQUIRE(list.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(list[i]["state_bytes"] == 3'014 + 1'000 * i);
  CHECK(list[0]["written_bytes"] > 3'014);
  CHECK(list[2]["written_bytes"] > 1'014);
  CHECK(list[2]["written_bytes"] < 2'000);
  CHECK(list[0]["needs"] == std::vector<SnapshotId>{});
  CHECK(list[1]["needs"] == std::vector<SnapshotId>{1});
  CHECK(list[2]["needs"] == std::vector<SnapshotId>{1, 2});

  const Answer answer = describe_snapshots(job.directory, true, false);
  CHECK(answer.code == 0);
  CHECK(contains(answer.out, "         1   5.01 kB   1."));
  CHECK(contains(answer.out, "  intact, needs what was saved in 1, 2\n"));
}

TEST_CASE("what was under way is told of a snapshot that is read whole, and of one that is named") {
  const Job job;
  store::Manifest manifest{.snapshot = 4, .epoch = 1};
  manifest.parts.push_back(*job.store->put(4, 0, part_with("a state", std::string(2'000, 'x'))));
  REQUIRE(job.store->commit(manifest));
  CHECK(contains(describe_snapshots(job.directory, true, false).out,
                 "intact, with 2.00 kB under way\n"));
  const auto list =
      nlohmann::json::parse(describe_snapshots(job.directory, true, true).out)["snapshots"];
  CHECK(list[0]["under_way_bytes"] == 0);
  CHECK(list[3]["under_way_bytes"] == 2'000);
  const Answer named = savepoint_changed(job.directory, {.name = "slow"});
  CHECK(named.code == 0);
  CHECK(
      named.out ==
      "savepoint 'slow' is snapshot 4\nit has 2.00 kB of items that were under way: only the same "
      "program with the same numbers of replicas can go on from it\n");
}

TEST_CASE("what a snapshot depends on is read with it, also where only its file is left") {
  const KeyedJob job;
  REQUIRE(job.store->drop(1));
  REQUIRE(job.store->drop(2));
  CHECK(describe_snapshots(job.directory, true, true).code == 0);
  std::string bytes = testing::contents(job.part(1));
  bytes[60] = static_cast<char>(bytes[60] ^ 1);
  testing::overwrite(job.part(1), bytes);

  CHECK(describe_snapshots(job.directory, false, false).code == 0);
  const Answer answer = describe_snapshots(job.directory, true, false);
  CHECK(answer.code == 1);
  CHECK(contains(answer.out, "damaged (snapshot 1, part of replica 0: want states of group 0"));
}

TEST_CASE("a snapshot whose index cannot be read has no size, and is damaged") {
  const KeyedJob job;
  const std::string bytes = testing::contents(job.part(3));
  testing::overwrite(job.part(3), bytes.substr(0, bytes.size() - 1));
  const auto list =
      nlohmann::json::parse(describe_snapshots(job.directory, false, true).out)["snapshots"];
  CHECK(list[1]["state"] == "complete");
  CHECK(list[2]["state"] == "damaged");
  CHECK(contains(list[2]["error"].get<std::string>(), "part-0000: want "));
  CHECK_FALSE(list[2].contains("state_bytes"));
}

TEST_CASE("snapshots are listed as they were taken") {
  const Job job;
  const Answer answer = describe_snapshots(job.directory, false, false);
  CHECK(answer.code == 0);
  CHECK(answer.error.empty());
  CHECK(answer.out ==
        "SNAPSHOT  TAKEN                REPLICAS      SIZE   WRITTEN  STATE\n"
        "       1  2023-11-14 22:13:21         2      32 B      32 B  complete\n"
        "       2  2023-11-14 22:13:22         2      32 B      32 B  complete\n"
        "       3  2023-11-14 22:13:23         2      32 B      32 B  finished\n");
}

TEST_CASE("a damaged snapshot is told with its file, and by the exit code when it was looked for") {
  const Job job;
  testing::overwrite(job.file(2, "part-0001"), "torn");
  CHECK(describe_snapshots(job.directory, false, false).code == 0);

  const Answer answer = describe_snapshots(job.directory, true, false);
  CHECK(answer.code == 1);
  CHECK(contains(answer.out,
                 "       1  2023-11-14 22:13:21         2      32 B      32 B  intact\n"));
  CHECK(contains(answer.out,
                 "       2  -                           -         -         -  damaged (" +
                     job.file(2, "part-0001") + ": want a header of 32 bytes, found 4 bytes)\n"));
}

TEST_CASE("what a job drops while somebody looks is neither damaged nor lost") {
  const Job job;
  std::atomic<bool> over = false;
  std::thread runs([&] {
    for (SnapshotId snapshot = 4; !over; ++snapshot) {
      store::Manifest manifest{.snapshot = snapshot, .epoch = 1};
      manifest.parts = {*job.store->put(snapshot, 0, part_with("a state")),
                        *job.store->put(snapshot, 1, part_with("a state"))};
      const std::string name = "s" + std::to_string(snapshot);
      if (!job.store->commit(manifest) || !job.store->add_savepoint(name, snapshot) ||
          !job.store->delete_savepoint(name) || !job.store->drop(snapshot)) {
        std::abort();
      }
    }
  });
  for (int look = 0; look < 300; ++look) {
    const Answer answer = describe_snapshots(job.directory, true, false);
    CHECK(answer.code == 0);
    CHECK(answer.error == "");
  }
  over = true;
  runs.join();
}

TEST_CASE("the list is JSON on request") {
  const Job job;
  testing::overwrite(job.file(2, "manifest.json"), "");
  const Answer answer = describe_snapshots(job.directory, true, true);
  CHECK(answer.code == 1);
  const auto document = nlohmann::json::parse(answer.out);
  CHECK(document["directory"] == job.directory);
  const auto& list = document["snapshots"];
  REQUIRE(list.size() == 3);
  CHECK(list[0] == nlohmann::json{{"snapshot", 1},
                                  {"state", "intact"},
                                  {"taken", "2023-11-14T22:13:21Z"},
                                  {"epoch", 1},
                                  {"replicas", 2},
                                  {"savepoints", nlohmann::json::array()},
                                  {"state_bytes", 32},
                                  {"written_bytes", 32},
                                  {"needs", nlohmann::json::array()},
                                  {"under_way_bytes", 0}});
  CHECK(list[1]["state"] == "damaged");
  CHECK(contains(list[1]["error"].get<std::string>(), "000000000002/manifest.json: want JSON"));
  CHECK(list[2]["state"] == "finished");
}

TEST_CASE("a directory without a snapshot yet is fine") {
  const ScratchDirectory scratch;
  const std::string directory = scratch.path() + "/d";
  REQUIRE(store::open_directory_store(directory, true));
  const Answer answer = describe_snapshots(directory, true, false);
  CHECK(answer.code == 0);
  CHECK(answer.out == "No snapshots in " + directory + ".\n");
}

TEST_CASE("what is no snapshot directory gets one line and exit code 3") {
  const ScratchDirectory scratch;
  testing::overwrite(scratch.path() + "/letter", "Dear Sir");
  for (const std::string& path :
       {scratch.path(), scratch.path() + "/letter", scratch.path() + "/none", std::string()}) {
    CAPTURE(path);
    const Answer answer = describe_snapshots(path, false, true);
    CHECK(answer.code == 3);
    CHECK(answer.out.empty());
    CHECK(contains(answer.error, "snapshot directory, found "));
    CHECK_FALSE(contains(answer.error, "\n"));
  }
}

TEST_CASE("a directory of another version gets one line and exit code 3, a single one does not") {
  const Job job;
  const auto make_version_4 = [&](SnapshotId snapshot) {
    std::string text = testing::contents(job.file(snapshot, "manifest.json"));
    text.replace(text.find("\"version\": 3"), 12, "\"version\": 4");
    testing::overwrite(job.file(snapshot, "manifest.json"), text);
  };
  make_version_4(1);
  make_version_4(2);
  const Answer mixed = describe_snapshots(job.directory, true, false);
  CHECK(mixed.code == 1);
  CHECK(contains(mixed.out, "other version (" + job.directory));

  make_version_4(3);
  const Answer answer = describe_snapshots(job.directory, false, false);
  CHECK(answer.code == 3);
  CHECK(answer.error == job.file(3, "manifest.json") +
                            ": this program reads versions 1 to 3 of the format, found 4");
}

TEST_CASE("a date that no calendar has does not stop the list") {
  const Job job;
  store::Manifest manifest{.snapshot = 4, .created = ~std::uint64_t{0}};
  REQUIRE(job.store->commit(manifest));
  CHECK(contains(describe_snapshots(job.directory, true, false).out,
                 "       4  -                           0       0 B       0 B  intact\n"));
}

TEST_CASE("a snapshot gets a name, which is listed, and goes with it when the job has dropped it") {
  KeyedJob job;
  CHECK(savepoint_changed(job.directory, {.name = "v1", .snapshot = 2}).out ==
        "savepoint 'v1' is snapshot 2\n");
  CHECK(savepoint_changed(job.directory, {.name = "v2"}).out == "savepoint 'v2' is snapshot 3\n");
  CHECK(contains(describe_snapshots(job.directory, true, false).out,
                 "intact, savepoint 'v1', needs what was saved in 1"));
  const auto document = nlohmann::json::parse(describe_snapshots(job.directory, true, true).out);
  CHECK(document["snapshots"][1]["savepoints"] == std::vector<std::string>{"v1"});

  for (const SnapshotId snapshot : {1, 2}) REQUIRE(job.store->drop(snapshot));
  CHECK(describe_snapshots(job.directory, true, false).code == 0);
  CHECK(savepoint_changed(job.directory, {.deleted = "v1"}).out ==
        "savepoint 'v1' is deleted, and snapshot 2 with it\n");
  CHECK(savepoint_changed(job.directory, {.deleted = "v2"}).out ==
        "savepoint 'v2' is deleted; snapshot 3 stays, for the job or another name\n");
  CHECK(describe_snapshots(job.directory, true, false).code == 0);
}

TEST_CASE("a name that cannot be had, or is not there, is refused") {
  KeyedJob job;
  const auto refused = [&](const SavepointChange& change) {
    const Answer answer = savepoint_changed(job.directory, change);
    CHECK(answer.code == 3);
    return answer.error;
  };
  CHECK(contains(refused({.name = "../x"}), "want up to 64 letters"));
  CHECK(contains(refused({.name = "x", .snapshot = 9}), ": want snapshot 9, found 1, 2, 3"));
  CHECK(contains(refused({.deleted = "x"}), "want savepoint 'x', found none"));
  REQUIRE(savepoint_changed(job.directory, {.name = "x"}).code == 0);
  CHECK(contains(refused({.name = "x", .snapshot = 1}), "savepoint 'x' is snapshot 3"));
  std::filesystem::remove(job.part(3));
  CHECK(contains(refused({.name = "y"}), job.part(3)));
  CHECK(job.store->savepoints()->size() == 1);
}

TEST_CASE("a name whose snapshot has gone is told, and one that cannot be read can be deleted") {
  KeyedJob job;
  REQUIRE(savepoint_changed(job.directory, {.name = "x"}).code == 0);
  std::filesystem::remove_all(job.directory + "/000000000003");
  const Answer lost = describe_snapshots(job.directory, true, false);
  CHECK(lost.code == 1);
  CHECK(contains(lost.error, "snapshot 3 of savepoint 'x' is not there"));
  std::ofstream(job.directory + "/savepoints/x") << "something else";
  CHECK(contains(describe_snapshots(job.directory, false, false).error, "savepoints/x: want"));
  CHECK(job.store->drop(1).error().code == Errc::corrupt);  // It may be what it names.
  CHECK(savepoint_changed(job.directory, {.deleted = "x"}).code == 0);
  CHECK(describe_snapshots(job.directory, true, false).code == 0);
}

TEST_CASE("while a job has the store, it removes what a name has kept") {
  KeyedJob job;
  REQUIRE(savepoint_changed(job.directory, {.name = "x", .snapshot = 1}).code == 0);
  REQUIRE(job.store->drop(1));
  const auto lock = job.store->lock();
  CHECK(
      contains(savepoint_changed(job.directory, {.deleted = "x"}).out, "the job that is running"));
  CHECK(*job.store->list() == std::vector<SnapshotId>{1, 2, 3});
  REQUIRE(job.store->drop(2));
  CHECK(*job.store->list() == std::vector<SnapshotId>{3});
}

}  // namespace piracema::tools
