// What a transport by shared memory makes of those who are no peers, and of peers gone mad.

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "loop/test_support.h"
#include "net/rings/rings.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "net/socket/descriptors.h"
#include "process.h"

using namespace piracema;
using namespace piracema::net;

namespace {

const std::string wrong_token(32, 'f');

/// Somebody on the local socket of a process.
class Neighbour {
 public:
  explicit Neighbour(Process& process) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto addresses = Addresses::parse(process.transport().address());
    REQUIRE(addresses.ok());
    REQUIRE(addresses->local.has_value());
    const timeval limit{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    REQUIRE(::connect(socket_.get(), addresses->local->data(), addresses->local->size()) == 0);
  }

  /// Calls as slot 1, incarnation 5, with these descriptors.
  void call(std::span<const int> descriptors, const std::string& token = test_token) {
    handshake_.emplace(token, Purpose::frames, draw_nonce());
    const std::string bytes = bytes_of(handshake_->call(to_bytes({.slot = 1, .incarnation = 5})));
    if (descriptors.empty()) return say(bytes);
    REQUIRE(send_with_descriptors(socket_.get(), as_bytes(bytes), descriptors).ok());
  }
  /// Calls with rings of its own, and is taken for a peer.
  void join(Process& process) {
    auto made = Rings::create();
    REQUIRE(made.ok());
    rings_ = std::move(*made);
    call(rings_->descriptors());
    REQUIRE(handshake_->take_answer(hear_frame(socket_.get())).ok());
    say(bytes_of(handshake_->proof()));
    REQUIRE(process.wait_for_told(1));
    CHECK(process.told()[0] == connected(1, 5));
  }
  void say(std::string_view bytes) {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void write(std::string bytes) {
    const iovec part{bytes.data(), bytes.size()};
    REQUIRE(rings_->write(&part, 1) == static_cast<ssize_t>(bytes.size()));
  }
  /// Writes where a counter lies, and rings.
  void spoil(off_t at, std::uint64_t value) {
    REQUIRE(::pwrite(rings_->descriptors()[0], &value, sizeof value, at) == sizeof value);
    Bell(rings_->descriptors()[2]).ring();
  }
  void close() { socket_.close(); }

  /// True once the other side has hung up, without a word.
  bool is_cut_off() {
    char byte = 0;
    return ::recv(socket_.get(), &byte, 1, 0) == 0;
  }

 private:
  Fd socket_;
  std::optional<Handshake> handshake_;
  std::unique_ptr<Rings> rings_;
};

/// `a` still does what it is for.
void check_serves(Shm& world, Process& a) {
  Process peer(world, 9, static_cast<std::uint32_t>(a.told().size()));
  peer.connect(a);
  REQUIRE(peer.wait_for_told(1));
  CHECK(peer.told()[0] == connected(0, 0));
  const std::size_t before = a.frames().size();
  peer.send(0, {});
  CHECK(a.wait_for_frames(before + 1));
}

/// Offsets in the first page; docs/formats/ring.md.
constexpr off_t written_at = 256, read_of_other_at = 512 + 128;

}  // namespace

TEST_CASE("who calls on the local socket without rings, or with others, is cut off") {
  Shm world;
  Process a(world, 0, 0);
  const auto rings = Rings::create();
  REQUIRE(rings.ok());
  const auto right = (*rings)->descriptors();

  Neighbour none(a), two(a), swapped(a), other_job(a), noise(a);
  none.call({});
  CHECK(none.is_cut_off());
  two.call(std::span(right).first(2));
  CHECK(two.is_cut_off());
  swapped.call(std::array{right[1], right[0], right[2]});
  CHECK(swapped.is_cut_off());
  other_job.call(right, wrong_token);
  CHECK(other_job.is_cut_off());
  Random random(7);
  std::string bytes(500, ' ');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random.next()); });
  noise.say(bytes);
  CHECK(noise.is_cut_off());
  CHECK(a.told().empty());
  check_serves(world, a);
}

TEST_CASE("a peer whose shared memory makes no sense is lost, and no other") {
  Shm world;
  Process a(world, 0, 0);
  Neighbour mad(a);
  mad.join(a);

  SUBCASE("a counter that has jumped") { mad.spoil(written_at, std::uint64_t{1} << 50); }
  SUBCASE("a counter of what was read that was never written") {
    mad.spoil(read_of_other_at, 77);
    a.send(1, frame_of(7, "head"));
  }
  SUBCASE("random bytes") {
    Random random(3);
    std::string bytes(5'000, ' ');
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random.next()); });
    mad.write(bytes);
  }
  SUBCASE("bytes beside the ring") { mad.say("psst"); }
  REQUIRE(a.wait_for_told(2));
  CHECK(a.told()[1] == lost(1, 5));
  check_serves(world, a);
}

TEST_CASE("a peer that dies in the middle of a frame is lost after all that it said") {
  Shm world;
  Process a(world, 0, 0);
  Neighbour dying(a);
  dying.join(a);
  const std::string whole = bytes_of(frame_of(7, "head", "body"));
  dying.write(whole + whole.substr(0, 20));
  dying.close();
  REQUIRE(a.wait_for_told(2));
  CHECK(a.frames().size() == 1);
  CHECK(a.told()[1] == lost(1, 5));
  CHECK(a.told()[1].why->message == "the peer closed the connection in the middle of a frame");
}
