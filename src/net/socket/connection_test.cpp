#include "net/socket/connection.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "loop/test_support.h"

using namespace piracema;
using namespace piracema::net;
using std::chrono::milliseconds;

namespace {

struct Seen {
  std::vector<wire::Frame> frames;
  std::vector<Error> lost;
  Connection::Events events() {
    return {.received = [this](wire::Frame frame) { frames.push_back(std::move(frame)); },
            .lost = [this](Error why) { lost.push_back(std::move(why)); }};
  }
};

void put(const Fd& socket, std::string_view bytes) {
  REQUIRE(::write(socket.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

/// Nothing ever comes by it; notes whether its reader waited for something, and whether it sleeps.
class EmptyChannel final : public ByteChannel {
 public:
  struct Notes {
    int waits = 0, sleeps = 0;
  };
  explicit EmptyChannel(Notes& notes) : notes_(notes) {}

  ssize_t write(const iovec*, std::size_t) override { return nothing(); }
  ssize_t read(const iovec*, std::size_t) override { return nothing(); }
  bool wait_for_room() override { return true; }
  bool sleep() override {
    notes_.sleeps += 1;
    return true;
  }
  bool is_worth_waiting() override {
    notes_.waits += 1;
    return false;
  }
  std::size_t capacity() const override { return 0; }
  bool is_over() const override { return false; }
  int bell() const override { return bell_.get(); }
  void quiet_bell() override {
    eventfd_t times = 0;
    eventfd_read(bell_.get(), &times);
  }
  void ring_again() override { eventfd_write(bell_.get(), 1); }

 private:
  static ssize_t nothing() {
    errno = EAGAIN;
    return -1;
  }
  Notes& notes_;
  Fd bell_{::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)};
};

}  // namespace

TEST_CASE("who only looks in at the poller does not wait for what may come by a channel") {
  const auto notes_of = [](milliseconds timeout) {
    Poller poller;
    auto [near, far] = stream_pair();
    Seen seen;
    const auto connection = Connection::open(poller, std::move(near), seen.events());
    EmptyChannel::Notes notes;
    REQUIRE(connection->use(std::make_unique<EmptyChannel>(notes)));
    poller.run_once(timeout);
    CHECK(notes.sleeps == 1);
    return notes;
  };
  CHECK(notes_of(milliseconds(0)).waits == 0);
  CHECK(notes_of(milliseconds(1000)).waits == 1);
}

TEST_CASE("what is sent is received, small and larger than any socket buffer, in order") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen here, there;
  const auto sender = Connection::open(poller, std::move(near), here.events());
  const auto receiver = Connection::open(poller, std::move(far), there.events());
  receiver->trust(there.events());
  std::vector<wire::Frame> frames;
  for (int i = 0; i < 300; ++i) {
    frames.push_back(frame_of(static_cast<std::uint8_t>(i), std::to_string(i),
                              std::string(i % 50 == 0 ? 3'000'000 : 0, 'b')));
    sender->send(frames.back());
  }
  CHECK(run_until(poller, [&] { return there.frames.size() == frames.size(); }));
  CHECK(std::equal(frames.begin(), frames.end(), there.frames.begin(), same));
  sender->close();
  CHECK(run_until(poller, [&] { return !there.lost.empty(); }));
  CHECK(there.lost[0].message == "the peer closed the connection");
  CHECK(here.lost.empty());
}

TEST_CASE("a stranger is cut off for a frame that only the trusted may send") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen seen;
  const auto connection = Connection::open(poller, std::move(near), seen.events());
  put(far, bytes_of(frame_of(1, "small")) + bytes_of(frame_of(1, std::string(4'097, 'h'))));
  CHECK(run_until(poller, [&] { return !seen.lost.empty(); }));
  CHECK(seen.frames.size() == 1);
  CHECK(seen.lost[0].code == Errc::corrupt);
  CHECK(seen.lost[0].message ==
        "frame: want at most 4096 bytes of head and 0 of body here, found 4097 and 0");
}

TEST_CASE("a stranger who says half of something is cut off in time") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen seen;
  const auto connection =
      Connection::open(poller, std::move(near), seen.events(), milliseconds(10));
  put(far, bytes_of(frame_of(1, "hello")).substr(0, 42));
  CHECK(run_until(poller, [&] { return !seen.lost.empty(); }));
  CHECK(seen.lost[0].code == Errc::timeout);
  char byte = 0;
  CHECK(::read(far.get(), &byte, 1) == 0);
}

TEST_CASE("frames right behind the one that won trust are large and go to the new receiver") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen first, second;
  std::shared_ptr<Connection> connection;
  connection = Connection::open(poller, std::move(near),
                                {.received =
                                     [&](wire::Frame frame) {
                                       connection->trust(second.events());
                                       first.frames.push_back(std::move(frame));
                                     },
                                 .lost = [&](Error why) { first.lost.push_back(why); }},
                                milliseconds(10));
  put(far, bytes_of(frame_of(1, "me")) + bytes_of(frame_of(2, std::string(5'000, 'h'), "body")));
  CHECK(run_until(poller, [&] { return !second.frames.empty(); }));
  CHECK(first.frames.size() == 1);
  CHECK(second.frames[0].kind == 2);

  const Time start = now();
  CHECK(run_until(poller, [&] { return now() > start + milliseconds(15); }));
  CHECK(first.lost.empty());  // The deadline for strangers is off.
  far.close();
  CHECK(run_until(poller, [&] { return !second.lost.empty(); }));
}

TEST_CASE("a receiver may close the connection: no further frame and no loss is told") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen seen;
  std::shared_ptr<Connection> connection;
  int received = 0;
  connection = Connection::open(poller, std::move(near),
                                {.received =
                                     [&](const wire::Frame&) {
                                       received += 1;
                                       connection->close();
                                       connection.reset();
                                     },
                                 .lost = [&](Error why) { seen.lost.push_back(why); }});
  put(far, bytes_of(frame_of(1, "one")) + bytes_of(frame_of(1, "two")));
  CHECK(run_until(poller, [&] { return received > 0; }));
  poller.run_once(milliseconds(0));
  CHECK(received == 1);
  CHECK(seen.lost.empty());
}

TEST_CASE("an end in the middle of a frame is told as such") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen seen;
  Connection::open(poller, std::move(near), seen.events());
  put(far, bytes_of(frame_of(1, "hello")).substr(0, 42));
  far.close();
  CHECK(run_until(poller, [&] { return !seen.lost.empty(); }));
  CHECK(seen.lost[0].message == "the peer closed the connection in the middle of a frame");
}

TEST_CASE("what a peer said before it went is received even if writing to it fails first") {
  Poller poller;
  auto [near, far] = stream_pair();
  Seen seen;
  const auto connection = Connection::open(poller, std::move(near), seen.events());
  put(far, bytes_of(frame_of(9, "last words")));
  far.close();
  for (int i = 0; i < 3; ++i) connection->send(frame_of(1, "too late"));
  CHECK(run_until(poller, [&] { return !seen.lost.empty(); }));
  REQUIRE(seen.frames.size() == 1);
  CHECK(seen.frames[0].kind == 9);
  CHECK(seen.lost.size() == 1);
  CHECK(seen.lost[0].message == "writing to the peer: Broken pipe");
}

// ---- sealed -------------------------------------------------------------------------------------

namespace {

/// Two ends of a connection, sealed by the keys of each other.
struct SealedLine {
  explicit SealedLine(Fd one_end, Fd other_end)
      : near(Connection::open(poller, std::move(one_end), at_near.events())),
        far(Connection::open(poller, std::move(other_end), at_far.events())) {
    near->trust(at_near.events());
    far->trust(at_far.events());
  }
  ~SealedLine() {
    near->close();
    far->close();
  }
  void seal() {
    REQUIRE(near->seal({Cipher::chacha20_poly1305, one, two}).ok());
    REQUIRE(far->seal({Cipher::chacha20_poly1305, two, one}).ok());
  }

  static constexpr SealKey one{std::byte{1}}, two{std::byte{2}};
  Poller poller;
  Seen at_near, at_far;
  std::shared_ptr<Connection> near, far;
};

}  // namespace

TEST_CASE("frames of any size go both ways over a sealed connection") {
  auto [one, two] = stream_pair();
  SealedLine line(std::move(one), std::move(two));
  line.seal();
  const std::string large(3'000'000, 'x');
  for (int i = 0; i < 3; ++i) {
    line.near->send(frame_of(1, "head", large));
    line.near->send(frame_of(2, "small"));
    line.far->send(frame_of(3, "back", large));
  }
  REQUIRE(run_until(line.poller, [&] {
    return line.at_far.frames.size() == 6 && line.at_near.frames.size() == 3;
  }));
  for (int i = 0; i < 3; ++i) {
    CHECK((as_text(line.at_far.frames[2 * i].body) == large));
    CHECK(as_text(line.at_far.frames[2 * i + 1].head) == "small");
    CHECK((as_text(line.at_near.frames[i].body) == large));
  }
}

TEST_CASE("what comes with the last plain frame is opened once there is a key") {
  auto [one, two] = stream_pair();
  Poller poller;
  Seen seen;
  std::shared_ptr<Connection> far;
  auto events = seen.events();
  events.received = [&](wire::Frame frame) {
    if (frame.kind == 1) {
      REQUIRE(far->seal({Cipher::chacha20_poly1305, SealedLine::two, SealedLine::one}).ok());
    }
    seen.frames.push_back(std::move(frame));
  };
  far = Connection::open(poller, std::move(two), events);
  RecordWriter records(Cipher::chacha20_poly1305, SealedLine::one);
  const std::string first = bytes_of(frame_of(1, "plain")),
                    second = bytes_of(frame_of(2, "sealed"));
  Buffer bytes(as_bytes(first));
  const iovec part{const_cast<char*>(second.data()), second.size()};
  records.seal({&part, 1}, bytes);
  put(one, as_text(bytes));
  REQUIRE(run_until(poller, [&] { return seen.frames.size() == 2; }));
  CHECK(as_text(seen.frames[1].head) == "sealed");
  far->close();
}

TEST_CASE(
    "a sealed connection ends at the first byte that nobody has sealed, and says where from") {
  auto [one, two] = stream_pair();
  Poller poller;
  Seen seen;
  const auto far = Connection::open(poller, std::move(two), seen.events());
  REQUIRE(far->seal({Cipher::chacha20_poly1305, SealedLine::two, SealedLine::one}).ok());
  put(one, bytes_of(frame_of(1, "plain")));
  REQUIRE(run_until(poller, [&] { return !seen.lost.empty(); }));
  CHECK(seen.lost[0].code == Errc::corrupt);
  CHECK(
      seen.lost[0].message.starts_with("a connection that is sealed, from this host: record 0: "));
  CHECK(seen.frames.empty());
}

TEST_CASE("a sealed connection that ends in the middle of a record says so") {
  auto [one, two] = stream_pair();
  Poller poller;
  Seen seen;
  const auto far = Connection::open(poller, std::move(two), seen.events());
  REQUIRE(far->seal({Cipher::chacha20_poly1305, SealedLine::two, SealedLine::one}).ok());
  RecordWriter records(Cipher::chacha20_poly1305, SealedLine::one);
  const std::string frame = bytes_of(frame_of(1, "text"));
  Buffer bytes;
  const iovec part{const_cast<char*>(frame.data()), frame.size()};
  records.seal({&part, 1}, bytes);
  put(one, as_text(bytes).substr(0, bytes.size() - 1));
  one.close();
  REQUIRE(run_until(poller, [&] { return !seen.lost.empty(); }));
  CHECK(seen.lost[0].message == "the peer closed the connection in the middle of a frame");
}
