// What a store in a bucket has to do beside what every store does, on a real server.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "snapshot_stores.h"

namespace piracema::store {

namespace {

const S3Server server = *S3Server::from_environment();

Error refusal(const std::string& address, const S3Server& where = server, bool create = true) {
  auto store = open_s3_store(address, create, where, {.open_for = std::chrono::milliseconds(500)});
  REQUIRE_FALSE(store);
  return store.error();
}

}  // namespace

TEST_CASE("a savepoint that a server still writes, and lists by another name, is none yet") {
  InBucket fixture;
  take(fixture.store, 1);
  REQUIRE(fixture.store.add_savepoint("n4", 1));
  const std::string key = fixture.key("savepoints/n5-19389a45-2227-420b-893e-96cbed9fe76f");
  REQUIRE(InBucket::client()->put(key, {as_bytes(std::string("piracema sa"))}));
  CHECK(*fixture.store.savepoints() == Savepoints{{"n4", 1}});
  CHECK(fixture.store.drop(1));
  CHECK(verify(fixture.store, 1));

  // One of before that has such a name by right.
  const std::string old = "n6-19389a45-2227-420b-893e-96cbed9fe76f";
  const std::string whole = encode_savepoint(old, 1);
  REQUIRE(InBucket::client()->put(fixture.key("savepoints/" + old), {as_bytes(whole)}));
  CHECK(*fixture.store.savepoints() == Savepoints{{"n4", 1}, {old, 1}});
  CHECK(fixture.store.delete_savepoint(old));
}

TEST_CASE(
    "of two manifests of a snapshot the first one counts, and is not another one's to repeat") {
  InBucket fixture;
  const auto other = *InBucket::open(fixture.address, true);
  Manifest manifest = *put_all(fixture.store, 1);
  REQUIRE(other->commit(manifest));
  manifest.created += 5;
  CHECK(fixture.store.commit(manifest));
  manifest.epoch += 1;
  CHECK(fixture.store.commit(manifest).error().code == Errc::refused);
  CHECK(fixture.store.manifest(1)->epoch == 3);
}

TEST_CASE("what is dropped leaves no object, but for those that others need") {
  InBucket fixture;
  const Keyed keyed({1, 0});
  const auto first = fixture.store.put_indexed(1, 0, as_bytes(keyed.data), keyed.index);
  REQUIRE(first);
  REQUIRE(fixture.store.commit({.snapshot = 1, .parts = {*first}}));
  PartIndex later{0, wire::checksum(Bytes()), 16, {}};
  later.files.push_back({{1, 0}, {0, 16}, seal(keyed.index.units)});
  const auto second = fixture.store.put_indexed(2, 0, Bytes(), later);
  REQUIRE(second);
  REQUIRE(fixture.store.commit({.snapshot = 2, .parts = {*second}}));
  REQUIRE(fixture.store.drop(1));
  CHECK(*fixture.store.list() == std::vector<SnapshotId>{2});
  CHECK(verify(fixture.store, 2));
  CHECK(InBucket::client()->list(fixture.key("000000000001/"), false)->keys.size() == 1);
  REQUIRE(fixture.store.drop(2));
  CHECK(InBucket::client()->list(fixture.key(""), false)->keys.empty());
}

TEST_CASE("a list of more names than the server tells at once is read whole") {
  InBucket fixture;
  const auto objects = InBucket::client();
  for (int i = 0; i < 1'005; ++i) {
    REQUIRE(objects->put(fixture.key(concat("many/", i)), {Bytes()}));
  }
  CHECK(objects->list(fixture.key("many/"), false)->keys.size() == 1'005);
  CHECK(objects->list(fixture.key("many/"), false, 1'000).error().code == Errc::io);
}

// ---- what is not there, or not ours ------------------------------------------------------------

TEST_CASE("errors name the bucket, the server, and what it says") {
  const std::string address = InBucket::fresh();
  S3Server other = server;
  other.secret = "wrong";
  Error error = refusal(address, other);
  CHECK(contains(error.message, address));
  CHECK(contains(error.message,
                 concat("at ", server.endpoint, ": status 403 SignatureDoesNotMatch")));
  const auto put = (*S3Client::make(other, "tests"))->put("x", {as_bytes("y")});
  REQUIRE_FALSE(put);
  CHECK(contains(put.error().message, "status 403 SignatureDoesNotMatch"));

  error = refusal("s3://no-such-bucket/job");
  CHECK(error.code == Errc::not_found);
  CHECK(contains(error.message, concat("s3://no-such-bucket/job/: cannot list its objects at ",
                                       server.endpoint, ": status 404 NoSuchBucket")));

  error = refusal(address, server, false);
  CHECK(error.code == Errc::not_found);
  CHECK(error.message == address + ": want snapshots, found nothing");

  REQUIRE(InBucket::client()->put(S3Address::parse(address)->prefix + "/letter",
                                  {as_bytes("Dear Sir")}));
  error = refusal(address);
  CHECK(error.code == Errc::config);
  CHECK(contains(error.message, "want snapshots, found something else"));
}

namespace {

/// A port where nobody listens, or where somebody does and says what he is told, and no more.
class Stranger {
 public:
  explicit Stranger(std::vector<std::string> answers, bool listens = true)
      : answers_(std::move(answers)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    ENSURE(::bind(socket_.get(), any, size) == 0);
    ENSURE(::getsockname(socket_.get(), any, &size) == 0);
    port_ = ntohs(address.sin_port);
    if (!listens) return;
    ENSURE(::listen(socket_.get(), 16) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Stranger() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  S3Server as_server() const {
    S3Server there = server;
    there.endpoint = concat("http://127.0.0.1:", port_);
    return there;
  }
  int asked() const { return asked_; }

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      const Fd line(::accept(socket_.get(), nullptr, nullptr));
      if (!line) return;
      ++asked_;
      char room[4'096];
      if (::read(line.get(), room, sizeof room) <= 0) continue;
      [[maybe_unused]] const ssize_t sent =
          ::send(line.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    const Fd last(::accept(socket_.get(), nullptr, nullptr));
    if (last) ++asked_;
    // It says nothing any more, until we are gone.
    char c = 0;
    while (last && ::read(last.get(), &c, 1) > 0) {
    }
  }

  const std::vector<std::string> answers_;
  const Fd socket_;
  std::uint16_t port_ = 0;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

std::string answer(const std::string& status, const std::string& body = "",
                   const std::string& headers = "") {
  return concat("HTTP/1.1 ", status, "\r\nContent-Length: ", body.size(),
                "\r\nConnection: close\r\n", headers, "\r\n", body);
}

const std::string busy = answer("503 Slow Down", "<Error><Code>SlowDown</Code></Error>");

}  // namespace

TEST_CASE("a server that has too much to do, or drops a line, is asked again") {
  const Stranger stranger(
      {busy, "", "HTTP/1.1 200 OK\r\nContent-Le", answer("200 OK", "", "ETag: \"x\"\r\n")});
  const auto put =
      (*S3Client::make(stranger.as_server(), "tests"))->write_lease("key", "x", "\"y\"");
  REQUIRE(put);
  CHECK(*put == "\"x\"");
  CHECK(stranger.asked() == 4);
}

TEST_CASE("one that never has time, is not there or stands still is given up in bounded time") {
  const ObjectPatience patience{.request = {.silent = std::chrono::seconds(1)},
                                .retry_for = std::chrono::milliseconds(400)};
  const auto put = [&](const Stranger& stranger) {
    const auto began = std::chrono::steady_clock::now();
    auto done = (*S3Client::make(stranger.as_server(), "tests", patience))->put("key", {});
    REQUIRE_FALSE(done);
    CHECK(done.error().code == Errc::timeout);
    CHECK(contains(done.error().message,
                   concat("s3://tests/key: cannot write it at ", stranger.as_server().endpoint)));
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
    return done.error().message;
  };
  CHECK(contains(put(Stranger(std::vector<std::string>(50, busy))), "status 503 SlowDown"));
  CHECK(contains(put(Stranger({}, false)), "connect"));
  put(Stranger({}));
}

TEST_CASE("an answer that is too long, or none, is refused") {
  const std::string endless =
      concat("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", std::string(200'000, 'x'));
  const Stranger first({endless});
  const auto put = (*S3Client::make(first.as_server(), "tests"))->put("key", {});
  REQUIRE_FALSE(put);
  CHECK(put.error().code == Errc::io);
  const Stranger second({answer("200 OK", "Dear Sir")});
  CHECK((*S3Client::make(second.as_server(), "tests"))->list("", true).error().code == Errc::io);
  const Stranger third({answer("206 Partial Content", "x", "Content-Range: bytes 7-7/9\r\n")});
  CHECK((*S3Client::make(third.as_server(), "tests"))->get("key", 0, 1).error().code == Errc::io);
  const Stranger fourth({answer("404 Not Found", "<Error><Code>\x01\nNoSuch</Code></Error>")});
  const auto gone = (*S3Client::make(fourth.as_server(), "tests"))->get("key", 0, 1);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == Errc::not_found);
  CHECK_FALSE(contains(gone.error().message, "\n"));
}

TEST_CASE("a server that passes conditions over is refused, as two jobs could have its store") {
  const std::string done = answer("200 OK", "", "ETag: \"x\"\r\n");
  const Stranger stranger({answer("404 Not Found"), done, done, done, done});
  auto made =
      S3Client::make(stranger.as_server(), "tests", {.retry_for = std::chrono::milliseconds(0)});
  const auto lock = ObjectLock::take(*std::move(made), "piracema.lock", "s3://tests", {});
  REQUIRE_FALSE(lock);
  CHECK(contains(lock.error().message, "want a server that writes under conditions"));
}

}  // namespace piracema::store
