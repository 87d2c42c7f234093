// What a store in HDFS has to do beside what every store does, on a real one.
#include <chrono>
#include <mutex>
#include <thread>

#include "snapshot_stores.h"
#include "store/objects/object_upload.h"

namespace piracema::store {

namespace {

std::unique_ptr<WebHdfs> files(const std::string& address) {
  return *WebHdfs::make(*HdfsAddress::parse(address), {});
}

}  // namespace

TEST_CASE("what a process that was killed has left half written goes with its snapshot") {
  InHdfs fixture;
  take(fixture.store, 1);
  const auto there = files(fixture.address);
  const std::string left = fixture.key("000000000001/part-0001.tmp-0123-2");
  REQUIRE(there->create(left, {as_bytes("half")}));
  CHECK(verify(fixture.store, 1));
  CHECK(*fixture.store.list() == std::vector<SnapshotId>{1});
  REQUIRE(fixture.store.drop(1));
  CHECK(fixture.client()->list(fixture.key(""), true)->folders.empty());
}

TEST_CASE(
    "of two that write a new object one does, and of two that write any the last one counts") {
  InHdfs fixture;
  const auto objects = fixture.client();
  const std::string key = fixture.key("savepoints/x");
  REQUIRE(objects->put_new(key, {as_bytes("one")}));
  CHECK(objects->put_new(key, {as_bytes("two")}).error().code == Errc::refused);
  CHECK(as_text(objects->get(key, 0, 100)->content) == "one");
  const std::string tag = objects->head(key)->tag;
  REQUIRE(objects->put(key, {as_bytes("three")}));
  CHECK(as_text(objects->get(key, 1, 2)->content) == "hr");
  CHECK(objects->get(key, 0, 100, tag).error().code == Errc::refused);
  CHECK(objects->get(key, 100, 100)->content.empty());
  CHECK(objects->list(fixture.key("savepoints/"), false)->keys.size() == 1);
}

TEST_CASE("more pieces than one request puts together become one part") {
  InHdfs fixture;
  std::string state(18 * ObjectUpload::piece_bytes + 1, 'a');
  for (std::size_t at = 0; at < state.size(); at += 1'000)
    state[at] = static_cast<char>(at / 1'000);
  const auto part = fixture.store.put(1, 0, as_bytes(state));
  REQUIRE(part);
  const auto read = fixture.store.get(1, *part);
  REQUIRE(read);
  CHECK((as_text(*read) == state));
}

// ---- whose it is -------------------------------------------------------------------------------

TEST_CASE("a lease is written by who has seen it last, and by nobody else") {
  InHdfs fixture;
  const auto one = fixture.client(), other = fixture.client();
  const std::string key = fixture.key("piracema.lock");
  CHECK_FALSE(one->read_lease(key)->has_value());
  CHECK(one->write_lease(key, "a", "7").error().code == Errc::refused);
  const auto first = one->write_lease(key, "a", "");
  REQUIRE(first);
  CHECK(other->write_lease(key, "b", "").error().code == Errc::refused);
  const auto second = one->write_lease(key, "c", *first);
  REQUIRE(second);
  CHECK(*second != *first);
  CHECK(other->write_lease(key, "d", *first).error().code == Errc::refused);
  const auto read = other->read_lease(key);
  REQUIRE(read);
  CHECK((*read)->tag == *second);
  CHECK((*read)->text == "c");
  CHECK(files(fixture.address)->list(key)->size() == 1);
}

TEST_CASE("of many that want a lease at once one gets it, each time") {
  InHdfs fixture;
  const std::string key = fixture.key("piracema.lock");
  std::string tag;
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::vector<std::string> written;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        const auto own = fixture.client();
        const auto done = own->write_lease(key, concat("of ", i), tag);
        const std::lock_guard guard(mutex);
        if (done) written.push_back(*done);
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(written.size() == 1);
    tag = written[0];
  }
}

// ---- what is not there, or not ours ------------------------------------------------------------

TEST_CASE("errors name the file, the server, and what it says") {
  const std::string address = InHdfs::fresh();
  const std::string endpoint = HdfsAddress::parse(address)->endpoint();
  const auto gone = files(address)->read(HdfsAddress::parse(address)->path + "/x", 0, 1);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == Errc::not_found);
  CHECK(contains(gone.error().message, concat(address, "/x: cannot read it at ", endpoint,
                                              ": status 404 FileNotFoundException")));

  auto nothing = open_hdfs_store(address, false);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == Errc::not_found);
  CHECK(nothing.error().message == address + ": want snapshots, found nothing");

  REQUIRE(files(address)->create(HdfsAddress::parse(address)->path + "/letter",
                                 {as_bytes("Dear Sir")}));
  const auto other = open_hdfs_store(address, true);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == Errc::config);
  CHECK(contains(other.error().message, "want snapshots, found something else"));

  HdfsAddress nobody = *HdfsAddress::parse(address);
  nobody.port = 1;
  const auto unheard =
      (*WebHdfs::make(nobody, {.retry_for = std::chrono::milliseconds(300)}))->list(nobody.path);
  REQUIRE_FALSE(unheard);
  CHECK(unheard.error().code == Errc::timeout);
  CHECK(contains(unheard.error().message, nobody.endpoint()));
}

}  // namespace piracema::store
