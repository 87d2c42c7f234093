// What a TCP transport makes of those who are no peers: it refuses them and goes on.

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/random.h"
#include "loop/test_support.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "process.h"
#include "wire/checksum.h"

using namespace piracema;
using namespace piracema::net;
using std::chrono::milliseconds;

namespace {

/// Somebody with a socket.
class Stranger {
 public:
  explicit Stranger(Process& process)
      : address_(*Address::parse(process.transport().address())),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    REQUIRE(::connect(socket_.get(), address_.data(), address_.size()) == 0);
  }

  void say(std::string_view bytes) {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void close() { socket_.close(); }

  /// Does all that a peer does; what the other side says of itself.
  Greeting join(const Greeting& greeting) {
    Handshake handshake(test_token, Purpose::frames, draw_nonce());
    say(bytes_of(handshake.call(to_bytes(greeting))));
    const auto about = handshake.take_answer(hear_frame(socket_.get()));
    REQUIRE(about.ok());
    say(bytes_of(handshake.proof()));
    return *read_greeting(*about);
  }

  /// The same with one that wants a seal; what is said from then on has to be sealed with it.
  SealKeys join_sealed(const Greeting& greeting) {
    Handshake handshake(test_token, Purpose::frames, draw_nonce(), Sealing::possible);
    say(bytes_of(handshake.call(to_bytes(greeting))));
    REQUIRE(handshake.take_answer(hear_frame(socket_.get())).ok());
    say(bytes_of(handshake.proof()));
    const auto keys = handshake.keys();
    REQUIRE(keys.has_value());
    return *keys;
  }

  /// Everything until the other side hangs up; "still there" if it does not.
  std::string hear() {
    std::string heard;
    char bytes[4096];
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (count < 0 && errno == EAGAIN) return "still there";
      if (count <= 0) return heard;
      heard.append(bytes, static_cast<std::size_t>(count));
    }
  }

 private:
  Address address_;
  Fd socket_;
};

Greeting greeting(std::uint32_t incarnation = 5) { return {.slot = 1, .incarnation = incarnation}; }

/// The first thing that a peer says.
std::string call_of(const Greeting& greeting, const std::string& token = test_token) {
  return bytes_of(Handshake(token, Purpose::frames, draw_nonce()).call(to_bytes(greeting)));
}

/// `a` still does what it is for.
void check_serves(Tcp& world, Process& a) {
  Process peer(world, 9, static_cast<std::uint32_t>(a.told().size()));
  peer.connect(a);
  REQUIRE(peer.wait_for_told(1));
  CHECK(peer.told()[0] == connected(0, 0));
  const std::size_t before = a.frames().size();
  peer.send(0, {});
  CHECK(a.wait_for_frames(before + 1));
}

}  // namespace

TEST_CASE("who says anything but a greeting is cut off without an answer") {
  Tcp world;
  Process a(world, 0, 0);

  SUBCASE("random bytes") {
    Random random(11);
    for (int i = 0; i < 20; ++i) {
      std::string bytes(40 + random.below(5'000), ' ');
      std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random.next()); });
      Stranger stranger(a);
      stranger.say(bytes);
      CHECK(stranger.hear().empty());
    }
  }
  SUBCASE("an HTTP request") {
    Stranger stranger(a);
    stranger.say("GET / HTTP/1.1\r\nHost: localhost:4711\r\nAccept: */*\r\n\r\n");
    CHECK(stranger.hear().empty());
  }
  SUBCASE("a header with a huge length") {
    std::string header = bytes_of({});
    const std::uint64_t length = std::uint64_t{1} << 31;
    std::memcpy(header.data() + 24, &length, sizeof length);
    const auto sum = static_cast<std::uint32_t>(wire::checksum(as_bytes(header).first(36)));
    std::memcpy(header.data() + 36, &sum, sizeof sum);
    Stranger stranger(a);
    stranger.say(header);
    CHECK(stranger.hear().empty());
  }
  SUBCASE("a frame of another kind") {
    Stranger stranger(a);
    stranger.say(bytes_of({}));
    CHECK(stranger.hear().empty());
  }
  SUBCASE("another version of the transport") {
    wire::Frame wrong = Handshake(test_token, Purpose::frames, draw_nonce()).call({});
    wrong.head.data()[0] = std::byte{99};
    Stranger stranger(a);
    stranger.say(bytes_of(wrong));
    CHECK(stranger.hear().empty());
  }
  SUBCASE("another version of the frames") {
    std::string old = call_of(greeting());
    old[2] = 99;
    Stranger stranger(a);
    stranger.say(old);
    CHECK(stranger.hear().empty());
  }
  SUBCASE("another job") {
    Stranger stranger(a);
    stranger.say(call_of(greeting(), std::string(32, '0')));
    CHECK(stranger.hear().empty());
  }
  SUBCASE("a call for something else than frames") {
    Stranger stranger(a);
    stranger.say(bytes_of(Handshake(test_token, Purpose::control, draw_nonce()).call({})));
    CHECK(stranger.hear().empty());
  }
  SUBCASE("a slot that does not call this one, or is none") {
    for (const Slot slot : {Slot{0}, slots_max, ~Slot{0}}) {
      Greeting wrong = greeting();
      wrong.slot = slot;
      Stranger stranger(a);
      stranger.say(call_of(wrong));
      CHECK(stranger.hear().empty());
    }
  }
  SUBCASE("half a frame, and then the end") {
    Stranger stranger(a);
    stranger.say(call_of(greeting()).substr(0, 50));
    stranger.close();
  }
  CHECK(a.told().empty());
  check_serves(world, a);
}

TEST_CASE("who says half a greeting, or nothing, is cut off in time") {
  Tcp world;
  world.handshake_timeout = milliseconds(20);
  Process a(world, 0, 0);
  world.handshake_timeout = milliseconds(5'000);
  Stranger half(a), silent(a);
  half.say(call_of(greeting()).substr(0, 50));
  CHECK(half.hear().empty());
  CHECK(silent.hear().empty());
  CHECK(a.told().empty());
}

TEST_CASE("who calls and has no proof of the key is cut off, and nobody hears of him") {
  Tcp world;
  Process a(world, 0, 0);
  Stranger impostor(a);
  impostor.say(call_of(greeting()));  // Heard on another connection, perhaps.
  wire::Frame proof;
  proof.kind = proof_kind;
  proof.head.resize(sizeof(Proof));
  std::fill_n(proof.head.data(), sizeof(Proof), std::byte{7});
  impostor.say(bytes_of(proof) + bytes_of(frame_of(1, "head")));
  impostor.hear();
  CHECK(a.told().empty());
  CHECK(a.frames().empty());
  check_serves(world, a);
}

TEST_CASE("a peer is answered, and one of an older incarnation is not") {
  Tcp world;
  Process a(world, 0, 6);
  Stranger right(a);
  const Greeting heard = right.join(greeting());
  CHECK(heard.slot == 0);
  CHECK(heard.incarnation == 6);
  REQUIRE(a.wait_for_told(1));
  CHECK(a.told()[0] == connected(1, 5));

  Stranger late(a);
  late.say(call_of(greeting(4)));
  CHECK(late.hear().empty());

  Stranger next(a);
  next.join(greeting(6));
  REQUIRE(a.wait_for_told(3));
  CHECK(right.hear().empty());
  CHECK(a.told()[1] == lost(1, 5));
  CHECK(a.told()[2] == connected(1, 6));
}

TEST_CASE("a peer that turns to nonsense after its greeting is lost, and says why") {
  Tcp world;
  Process a(world, 0, 0);
  Stranger peer(a);
  peer.join(greeting());
  peer.say(std::string(40, '?'));
  REQUIRE(a.wait_for_told(2));
  CHECK(a.told()[1] == lost(1, 5));
  CHECK(a.told()[1].why->code == Errc::corrupt);
  check_serves(world, a);
}

TEST_CASE("who is called has to be the one that was wanted") {
  Tcp world, other_job;
  other_job.token.back() = '0';
  Process another_job(other_job, 0, 0);
  Process another_incarnation(world, 0, 3);
  Process caller(world, 1, 0, {}, milliseconds(2'000));

  caller.transport().connect(0, 1, another_job.transport().address());
  REQUIRE(caller.wait_for_told(1));
  caller.transport().connect(0, 2, another_incarnation.transport().address());
  REQUIRE(caller.wait_for_told(2));
  CHECK(caller.told()[0] == lost(0, 1));
  CHECK(caller.told()[1] == lost(0, 2));
  CHECK(caller.told()[1].why->message ==
        "handshake: want slot 0, incarnation 2, found slot 0, incarnation 3");
  caller.transport().connect(0, 3, "localhost");
  REQUIRE(caller.wait_for_told(3));
  CHECK(caller.told()[2].why->code == Errc::config);
}

TEST_CASE("a port that is taken, a token that is none and a slot too high are errors") {
  Tcp world;
  Process a(world, 0, 0);
  Poller poller;
  TcpSettings settings;
  settings.token = test_token;
  settings.port = Address::parse(a.transport().address())->port();
  auto taken = TcpTransport::open(poller, settings, {});
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message.find(a.transport().address()) != std::string::npos);

  settings.port = 0;
  settings.me = slots_max;
  CHECK(TcpTransport::open(poller, settings, {}).error().code == Errc::config);
  settings.me = 0;
  settings.token.pop_back();
  CHECK(TcpTransport::open(poller, settings, {}).error().code == Errc::config);
}

// ---- sealed connections -------------------------------------------------------------------------

namespace {

std::string sealed(const SealKeys& keys, const std::string& bytes) {
  RecordWriter writer(keys.cipher, keys.out);
  Buffer out;
  const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  writer.seal({&part, 1}, out);
  return std::string(as_text(out));
}

}  // namespace

TEST_CASE("a peer that sends plain and one that wants a seal do not come together") {
  SealedTcp sealing;
  Tcp plain;
  plain.sealed = Sealed::nowhere;
  Process wants(sealing, 0, 0), sends_plain(plain, 1, 0, {}, milliseconds(300));
  sends_plain.connect(wants);
  REQUIRE(sends_plain.wait_for_told(1));
  CHECK(sends_plain.told()[0] == lost(0, 0));

  Process is_plain(plain, 0, 0), calls(sealing, 1, 0, {}, milliseconds(300));
  calls.connect(is_plain);
  REQUIRE(calls.wait_for_told(1));
  CHECK(calls.told()[0] == lost(0, 0));
  CHECK(wants.told().empty());
  CHECK(is_plain.told().empty());
}

TEST_CASE("a frame that was sealed arrives; one that was not, or twice, ends the connection") {
  SealedTcp world;
  Process a(world, 0, 0);
  Stranger peer(a);
  const SealKeys keys = peer.join_sealed(greeting());
  const std::string right = sealed(keys, bytes_of(frame_of(1, "text")));
  peer.say(right);
  REQUIRE(a.wait_for_frames(1));
  CHECK(as_text(a.frames()[0].head) == "text");

  SUBCASE("plain") { peer.say(bytes_of(frame_of(1, "text"))); }
  SUBCASE("twice") { peer.say(right); }
  REQUIRE(a.wait_for_told(2));
  CHECK(a.told()[1] == lost(1, 5));
  CHECK(a.told()[1].why->code == Errc::corrupt);
  CHECK(a.told()[1].why->message.starts_with("a connection that is sealed, from 127.0.0.1:"));
  CHECK(a.frames().size() == 1);
  check_serves(world, a);
}

TEST_CASE("records that come many at once are opened one after the other") {
  SealedTcp world;
  Process a(world, 0, 0);
  Stranger peer(a);
  const SealKeys keys = peer.join_sealed(greeting());
  std::string all;
  RecordWriter writer(keys.cipher, keys.out);
  for (int i = 0; i < 50; ++i) {
    const std::string frame = bytes_of(frame_of(1, "text", std::string(3'000, 'x')));
    Buffer out;
    const iovec part{const_cast<char*>(frame.data()), frame.size()};
    writer.seal({&part, 1}, out);
    all += as_text(out);
  }
  peer.say(all);
  REQUIRE(a.wait_for_frames(50));
  CHECK(a.frames()[49].body.size() == 3'000);
}
