// What a store in HDFS has to do beside what every store does, on a real one.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "snapshot_stores.h"
#include "store/hdfs/hdfs_client.h"
#include "store/objects/object_upload.h"

namespace piracema::store {

namespace {

ObjectStoreSettings short_lease() {
  return {.lease = {.term = std::chrono::seconds(3), .renew = std::chrono::milliseconds(300)}};
}

std::unique_ptr<ObjectStore> open(const std::string& address, bool create = true) {
  auto store = open_hdfs_store(address, create, short_lease());
  REQUIRE(store);
  return *std::move(store);
}

std::unique_ptr<WebHdfs> files(const std::string& address) {
  return *WebHdfs::make(*HdfsAddress::parse(address), {});
}
HdfsClient client(const std::string& address) { return HdfsClient(files(address)); }

std::string key_of(const std::string& address, const std::string& rest) {
  return concat(HdfsAddress::parse(address)->path, "/", rest);
}

std::string random_text(std::size_t bytes) {
  std::string text(bytes, 0);
  Random random(bytes);
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

constexpr const char* of_somebody = "piracema lease 1\nstate held\nholder somebody else\nid x 1\n";

}  // namespace

TEST_CASE("a part of several pieces reads back, put at once and as it is made") {
  InHdfs fixture;
  // So many that they are put together in several requests, too.
  for (const std::size_t bytes : {ObjectUpload::piece_bytes - 1, 2 * ObjectUpload::piece_bytes + 1,
                                  18 * ObjectUpload::piece_bytes + 1}) {
    CAPTURE(bytes);
    const std::string state = random_text(bytes);
    const auto part = fixture.store.put(1, 0, as_bytes(state));
    REQUIRE(part);
    const auto read = fixture.store.get(1, *part);
    REQUIRE(read);
    CHECK(as_text(*read) == state);
  }
  const Keyed keyed({1, 1}, ObjectUpload::piece_bytes);
  const auto indexed = fixture.store.put_indexed(1, 1, as_bytes(keyed.data), keyed.index);
  REQUIRE(indexed);
  CHECK(*fixture.store.index(1, *indexed) == keyed.index);
  CHECK(as_text(*fixture.store.read({1, 1}, 5, 1'000)) == std::string(1'000, 'a'));
}

TEST_CASE("a large part that was not finished leaves nothing") {
  InHdfs fixture;
  {
    auto stream = fixture.store.begin_part(1, 0);
    REQUIRE(stream);
    REQUIRE((*stream)->append(as_bytes(random_text(3 * ObjectUpload::piece_bytes))));
  }
  CHECK(fixture.store.read({1, 0}, 0, 1).error().code == Errc::corrupt);
  CHECK(client(fixture.address).list(key_of(fixture.address, ""), false)->keys.empty());
  CHECK(client(fixture.address).list(key_of(fixture.address, ""), true)->folders.empty());
}

TEST_CASE("what a process that was killed has left half written goes with its snapshot") {
  InHdfs fixture;
  take(fixture.store, 1);
  const auto there = files(fixture.address);
  const std::string left = key_of(fixture.address, "000000000001/part-0001.tmp-0123-2");
  REQUIRE(there->create(left, {as_bytes("half")}));
  CHECK(verify(fixture.store, 1));
  CHECK(*fixture.store.list() == std::vector<SnapshotId>{1});
  REQUIRE(fixture.store.drop(1));
  CHECK(client(fixture.address).list(key_of(fixture.address, ""), true)->folders.empty());
}

TEST_CASE("a part that has changed, was cut or is gone is found, and the one before is used") {
  InHdfs fixture;
  take(fixture.store, 1);
  const Manifest second = take(fixture.store, 2);
  auto objects = client(fixture.address);
  const std::string key = key_of(fixture.address, "000000000002/part-0001");
  const auto whole = objects.get(key, 0, 1'000);
  REQUIRE(whole);
  const std::string named = fixture.address + "/000000000002/part-0001";
  for (std::size_t at = 0; at < whole->content.size(); at += 17) {
    CAPTURE(at);
    Buffer damaged = whole->content;
    damaged.data()[at] ^= std::byte{1};
    REQUIRE(objects.put(key, {damaged}));
    CHECK_FALSE(intact_or_named(fixture.store, second, named));
    damaged = whole->content;
    damaged.resize(at);
    REQUIRE(objects.put(key, {damaged}));
    CHECK_FALSE(intact_or_named(fixture.store, second, named));
  }
  REQUIRE(objects.remove(key));
  CHECK(newest(fixture.store) == 1);
  REQUIRE(objects.put(key, {whole->content}));
  CHECK(newest(fixture.store) == 2);
}

TEST_CASE(
    "of two that write a new object one does, and of two that write any the last one counts") {
  InHdfs fixture;
  auto objects = client(fixture.address);
  const std::string key = key_of(fixture.address, "savepoints/x");
  REQUIRE(objects.put_new(key, {as_bytes("one")}));
  CHECK(objects.put_new(key, {as_bytes("two")}).error().code == Errc::refused);
  CHECK(as_text(objects.get(key, 0, 100)->content) == "one");
  const std::string tag = objects.head(key)->tag;
  REQUIRE(objects.put(key, {as_bytes("three")}));
  CHECK(as_text(objects.get(key, 1, 2)->content) == "hr");
  CHECK(objects.get(key, 0, 100, tag).error().code == Errc::refused);
  CHECK(objects.get(key, 100, 100)->content.empty());
  CHECK(objects.list(key_of(fixture.address, "savepoints/"), false)->keys.size() == 1);
}

// ---- whose it is -------------------------------------------------------------------------------

TEST_CASE("a lease is written by who has seen it last, and by nobody else") {
  InHdfs fixture;
  auto one = client(fixture.address), other = client(fixture.address);
  const std::string key = key_of(fixture.address, "piracema.lock");
  CHECK_FALSE(one.read_lease(key)->has_value());
  CHECK(one.write_lease(key, "a", "7").error().code == Errc::refused);
  const auto first = one.write_lease(key, "a", "");
  REQUIRE(first);
  CHECK(other.write_lease(key, "b", "").error().code == Errc::refused);
  const auto second = one.write_lease(key, "c", *first);
  REQUIRE(second);
  CHECK(*second != *first);
  CHECK(other.write_lease(key, "d", *first).error().code == Errc::refused);
  const auto read = other.read_lease(key);
  REQUIRE(read);
  CHECK((*read)->tag == *second);
  CHECK((*read)->text == "c");
  CHECK(files(fixture.address)->list(key)->size() == 1);
}

TEST_CASE("of many that want a lease at once one gets it, each time") {
  InHdfs fixture;
  const std::string key = key_of(fixture.address, "piracema.lock");
  std::string tag;
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::vector<std::string> written;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        auto own = client(fixture.address);
        const auto done = own.write_lease(key, concat("of ", i), tag);
        const std::lock_guard guard(mutex);
        if (done) written.push_back(*done);
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(written.size() == 1);
    tag = written[0];
  }
}

TEST_CASE("one job has a store, and gives it back at its end") {
  InHdfs fixture;
  const auto one = open(fixture.address), other = open(fixture.address);
  {
    const auto lock = one->lock();
    REQUIRE(lock);
    const auto refused = other->lock();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::refused);
    CHECK(
        contains(refused.error().message,
                 concat(fixture.address, ": want it for one job alone, found it in use by process ",
                        ::getpid(), " on host ")));
    CHECK(one->commit(*put_all(*one, 1)));
  }
  CHECK(other->lock());
}

TEST_CASE("a store whose job was killed is another one's after its term") {
  const std::string address = InHdfs::fresh();
  const std::string said = in_child([&]() -> std::string {
    const auto lock = open(address)->lock();
    if (!lock) return lock.error().message;
    ::kill(::getpid(), SIGKILL);
    return "it lives";
  });
  CHECK(contains(said, "child ended with status 9"));
  CHECK(open(address, false)->lock());
}

TEST_CASE("a job that was taken for dead is told, and neither it nor its workers write any more") {
  InHdfs fixture;
  const auto store = open(fixture.address);
  const auto lock = store->lock();
  REQUIRE(lock);
  std::mutex mutex;
  std::condition_variable changed;
  std::string why;
  (*lock)->when_lost([&](const Error& error) {
    const std::lock_guard guard(mutex);
    why = error.message;
    changed.notify_one();
  });
  const auto worker = open(fixture.address, false);
  const Manifest manifest = *put_all(*store, 1);
  // As one that waited for the term does; the holder may be about to write.
  auto other = client(fixture.address);
  const std::string key = key_of(fixture.address, "piracema.lock");
  while (!other.write_lease(key, of_somebody, (*other.read_lease(key))->tag)) {
  }
  std::unique_lock guard(mutex);
  REQUIRE(changed.wait_for(guard, std::chrono::seconds(60), [&] { return !why.empty(); }));
  CHECK(contains(why, "found it in use by somebody else"));
  CHECK(contains(store->commit(manifest).error().message, "another job may have it"));
  CHECK(store->list()->empty());
  const auto put = worker->put(1, 2, as_bytes("state"));
  REQUIRE_FALSE(put);
  CHECK(put.error().message == fixture.address + ": another job has it now");
}

// ---- what is not there, or not ours ------------------------------------------------------------

TEST_CASE("errors name the file, the server, and what it says") {
  const std::string address = InHdfs::fresh();
  const std::string endpoint = HdfsAddress::parse(address)->endpoint();
  const auto gone = files(address)->read(key_of(address, "x"), 0, 1);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == Errc::not_found);
  CHECK(contains(gone.error().message, concat(address, "/x: cannot read it at ", endpoint,
                                              ": status 404 FileNotFoundException")));

  auto nothing = open_hdfs_store(address, false);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().code == Errc::not_found);
  CHECK(nothing.error().message == address + ": want snapshots, found nothing");

  REQUIRE(files(address)->create(key_of(address, "letter"), {as_bytes("Dear Sir")}));
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
