// What every store of objects has to do beside what every store does, on a real server: `Remote`.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/random.h"
#include "snapshot_stores.h"
#include "store/objects/object_upload.h"

namespace piracema::store {

namespace {

std::string random_text(std::size_t bytes) {
  std::string text(bytes, 0);
  Random random(bytes);
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

std::unique_ptr<ObjectStore> open(const std::string& address, bool create = true) {
  auto store = Remote::open(address, create, {.lease = short_lease});
  REQUIRE(store);
  return *std::move(store);
}

// As one that waited for the term does; the holder may be about to write.
void take_for_somebody_else(const Remote& fixture) {
  const auto other = fixture.client();
  const std::string key = fixture.key("piracema.lock");
  const std::string text = "piracema lease 1\nstate held\nholder somebody else\nid x 1\n";
  while (!other->write_lease(key, text, (*other->read_lease(key))->tag)) {
  }
}

}  // namespace

TEST_CASE("a part of several pieces reads back, put at once and as it is made") {
  Remote fixture;
  // One byte around the size of a piece, and several of them.
  for (const std::size_t bytes :
       {ObjectUpload::piece_bytes - 1, ObjectUpload::piece_bytes, 2 * ObjectUpload::piece_bytes + 1,
        3 * ObjectUpload::piece_bytes}) {
    CAPTURE(bytes);
    const std::string state = random_text(bytes);
    const auto part = fixture.store.put(1, 0, as_bytes(state));
    REQUIRE(part);
    const auto read = fixture.store.get(1, *part);
    REQUIRE(read);
    CHECK(as_text(*read) == state);

    const Keyed keyed({1, 1}, bytes / 2);
    const auto indexed = fixture.store.put_indexed(1, 1, as_bytes(keyed.data), keyed.index);
    REQUIRE(indexed);
    CHECK(*fixture.store.index(1, *indexed) == keyed.index);
    CHECK(as_text(*fixture.store.read({1, 1}, 5, bytes / 2)) == std::string(bytes / 2, 'a'));
  }
}

TEST_CASE("a large part that was not finished leaves nothing") {
  Remote fixture;
  {
    auto stream = fixture.store.begin_part(1, 0);
    REQUIRE(stream);
    REQUIRE((*stream)->append(as_bytes(random_text(3 * ObjectUpload::piece_bytes))));
  }
  CHECK(fixture.store.read({1, 0}, 0, 1).error().code == Errc::corrupt);
  CHECK(fixture.client()->list(fixture.key(""), false)->keys.empty());
  CHECK(fixture.client()->list(fixture.key(""), true)->folders.empty());
}

TEST_CASE(
    "a part that has changed, was cut or is another one is found, and the one before is used") {
  Remote fixture;
  take(fixture.store, 1);
  const Manifest second = take(fixture.store, 2);
  const std::string key = fixture.key("000000000002/part-0001");
  const auto whole = fixture.client()->get(key, 0, 1'000);
  REQUIRE(whole);
  for (std::size_t at = 0; at < whole->content.size(); at += 7) {
    CAPTURE(at);
    Buffer damaged = whole->content;
    damaged.data()[at] ^= std::byte{1};
    REQUIRE(fixture.client()->put(key, {damaged}));
    CHECK_FALSE(
        intact_or_named(fixture.store, second, fixture.address + "/000000000002/part-0001"));
    damaged = whole->content;
    damaged.resize(at);
    REQUIRE(fixture.client()->put(key, {damaged}));
    CHECK_FALSE(
        intact_or_named(fixture.store, second, fixture.address + "/000000000002/part-0001"));
  }
  CHECK(newest(fixture.store) == 1);
  REQUIRE(fixture.client()->remove(key));
  CHECK(newest(fixture.store) == 1);
  REQUIRE(fixture.client()->put(key, {whole->content}));
  CHECK(newest(fixture.store) == 2);
}

// ---- whose it is -------------------------------------------------------------------------------

TEST_CASE("one job has a store, and gives it back at its end") {
  Remote fixture;
  const auto one = open(fixture.address), other = open(fixture.address);
  {
    const auto lock = one->lock();
    REQUIRE(lock);
    CHECK((*lock)->file() == nullptr);
    const auto refused = other->lock();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::refused);
    CHECK(
        contains(refused.error().message,
                 concat(fixture.address, ": want it for one job alone, found it in use by process ",
                        ::getpid(), " on host ")));
    CHECK(one->commit(*put_all(*one, 1)));
  }
  const auto began = std::chrono::steady_clock::now();
  CHECK(other->lock());
  CHECK(std::chrono::steady_clock::now() - began <
        std::chrono::seconds(3));  // No term was waited for.
}

TEST_CASE("a store whose job was killed is another one's after its term") {
  const std::string address = Remote::fresh();
  const std::string said = in_child([&]() -> std::string {
    const auto lock = open(address)->lock();
    if (!lock) return lock.error().message;
    ::kill(::getpid(), SIGKILL);
    return "it lives";
  });
  CHECK(contains(said, "child ended with status 9"));
  CHECK(open(address, false)->lock());
}

TEST_CASE(
    "a job that was taken for dead is told that another one has its store, and commits nothing") {
  Remote fixture;
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
  const Manifest manifest = *put_all(*store, 1);
  take_for_somebody_else(fixture);
  std::unique_lock guard(mutex);
  REQUIRE(changed.wait_for(guard, std::chrono::seconds(60), [&] { return !why.empty(); }));
  CHECK(contains(why, "found it in use by somebody else"));
  const auto committed = store->commit(manifest);
  REQUIRE_FALSE(committed);
  CHECK(contains(committed.error().message, "another job may have it"));
  CHECK(store->list()->empty());
}

TEST_CASE("a worker whose job has lost the store puts nothing into it any more") {
  Remote fixture;
  const auto store = open(fixture.address);
  const auto lock = store->lock();
  REQUIRE(lock);
  const auto worker = open(fixture.address, false);
  auto begun = worker->begin_part(1, 1);
  REQUIRE(begun);
  REQUIRE(worker->put(1, 0, as_bytes("state")));
  take_for_somebody_else(fixture);
  const auto put = worker->put(1, 2, as_bytes("state"));
  REQUIRE_FALSE(put);
  CHECK(put.error().code == Errc::refused);
  CHECK(put.error().message == fixture.address + ": another job has it now");
  const Keyed keyed({1, 1});
  REQUIRE((*begun)->append(as_bytes(keyed.data)));
  CHECK((*begun)->finish(keyed.index).error().code == Errc::refused);
}

}  // namespace piracema::store
