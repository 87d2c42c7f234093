// What every Transport does, whatever carries the frames.

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "process.h"

using namespace piracema;
using namespace piracema::net;
using std::chrono::milliseconds;
using ToldList = std::vector<Process::Told>;

namespace {

/// A frame numbered by sender and place, with a body that tells whether it was mixed up.
wire::Frame numbered(std::uint32_t sender, std::uint32_t number, std::size_t body_bytes) {
  wire::Frame frame;
  frame.kind = 7;
  frame.epoch = 3;
  frame.from = sender;
  frame.to = number;
  frame.head = Buffer(as_bytes(std::to_string(number)));
  frame.body.resize(body_bytes);
  if (body_bytes != 0) std::memset(frame.body.data(), static_cast<int>(number % 251), body_bytes);
  return frame;
}

bool is_numbered(const wire::Frame& frame) {
  const auto mark = std::byte(frame.to % 251);
  const Bytes body = frame.body;
  return frame.kind == 7 && frame.epoch == 3 && as_text(frame.head) == std::to_string(frame.to) &&
         (body.empty() || (body.front() == mark && body.back() == mark &&
                           std::memcmp(body.data(), body.data() + 1, body.size() - 1) == 0));
}

/// Counts numbered frames of several senders, and whether each sender's come in order and whole.
class Counter {
 public:
  explicit Counter(std::size_t senders) : next_(senders, 0) {}
  Process::OnFrame on_frame() {
    return [this](Slot, const wire::Frame& frame) {
      if (frame.to != next_.at(frame.from)++ || !is_numbered(frame)) right_ = false;
      count_ += 1;
      count_.notify_all();
    };
  }
  void wait_for(std::uint32_t count) {
    for (std::uint32_t seen = count_; seen < count; seen = count_) count_.wait(seen);
  }
  bool right() const { return right_; }
  std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> next_;
  std::atomic<bool> right_ = true;
  std::atomic<std::uint32_t> count_ = 0;
};

std::size_t mixed_size(std::uint32_t number) {
  if (number % 97 == 0) return 1'000'000;
  return number % 5 == 0 ? 70'000 : number % 3 * 20;
}

}  // namespace

TEST_CASE_TEMPLATE("frames of several threads arrive whole, each thread's in order", World,
                   TRANSPORTS) {
  constexpr std::uint32_t threads_count = 4;
  constexpr std::uint32_t frames_count = 500;
  World world;
  Counter counter(threads_count);
  Process a(world, 0, 0, counter.on_frame()), b(world, 1, 0);
  join(a, b);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < frames_count; ++i) b.send(0, numbered(t, i, mixed_size(i)));
    });
  }
  for (auto& thread : threads) thread.join();
  counter.wait_for(threads_count * frames_count);
  CHECK(counter.right());
}

TEST_CASE_TEMPLATE("bodies of nothing and of 8 MB arrive as they were sent", World, TRANSPORTS) {
  World world;
  Process a(world, 0, 0), b(world, 1, 0);
  join(a, b);
  for (std::uint32_t i = 0; i < 6; ++i) b.send(0, numbered(0, i, i % 2 * 8'000'000));
  b.send(0, {});
  REQUIRE(a.wait_for_frames(7));
  const auto frames = a.frames();
  for (std::uint32_t i = 0; i < 6; ++i) {
    CHECK(is_numbered(frames[i]));
    CHECK(frames[i].to == i);
    CHECK(frames[i].body.size() == i % 2 * 8'000'000);
  }
  CHECK(frames[6].head.empty());
}

TEST_CASE_TEMPLATE("both directions at once do not wait for each other when buffers are full",
                   World, TRANSPORTS) {
  constexpr std::uint32_t frames_count = 60;
  World world;
  Counter to_a(1), to_b(1);
  Process a(world, 0, 0, to_a.on_frame()), b(world, 1, 0, to_b.on_frame());
  join(a, b);
  std::thread from_a([&] {
    for (std::uint32_t i = 0; i < frames_count; ++i) a.send(1, numbered(0, i, 2'000'000));
  });
  for (std::uint32_t i = 0; i < frames_count; ++i) b.send(0, numbered(0, i, 2'000'000));
  from_a.join();
  to_a.wait_for(frames_count);
  to_b.wait_for(frames_count);
  CHECK(to_a.right());
  CHECK(to_b.right());
}

TEST_CASE_TEMPLATE("frames may be answered from where they are received", World, TRANSPORTS) {
  World world;
  Process* answering = nullptr;
  Process a(world, 0, 0,
            [&](Slot from, wire::Frame frame) { answering->send(from, std::move(frame)); });
  answering = &a;
  Process b(world, 1, 0);
  join(a, b);
  for (std::uint32_t i = 0; i < 200; ++i) b.send(0, numbered(0, i, mixed_size(i)));
  REQUIRE(b.wait_for_frames(200));
  const auto frames = b.frames();
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(frames[i].to == i);
}

TEST_CASE_TEMPLATE("a peer's death is told once, after all that it said", World, TRANSPORTS) {
  World world;
  Process a(world, 1, 0);
  {
    Process b(world, 2, 4);
    join(a, b);
    b.send(1, numbered(0, 0, 10));
    REQUIRE(a.wait_for_frames(1));
  }
  REQUIRE(a.wait_for_told(2));
  // The news of another peer would come after a second telling.
  Process c(world, 3, 0);
  join(a, c);
  CHECK(a.told() == ToldList{connected(2, 4), lost(2, 4), connected(3, 0)});
}

TEST_CASE_TEMPLATE("a death is told whichever of the two died", World, TRANSPORTS) {
  World world;
  Process b(world, 2, 0);
  {
    Process a(world, 1, 7);
    join(a, b);
  }
  REQUIRE(b.wait_for_told(2));
  CHECK(b.told() == ToldList{connected(1, 7), lost(1, 7)});
}

TEST_CASE_TEMPLATE("who wants a connection that exists is told again that it does", World,
                   TRANSPORTS) {
  World world;
  Process a(world, 0, 0), b(world, 1, 2);
  join(a, b);
  join(a, b);
  b.send(0, numbered(0, 0, 1));
  CHECK(a.wait_for_frames(1));
  CHECK(a.told() == ToldList{connected(1, 2), connected(1, 2)});
  CHECK(b.told() == ToldList{connected(0, 0), connected(0, 0)});
}

TEST_CASE_TEMPLATE("a new incarnation takes the place of a dead one", World, TRANSPORTS) {
  World world;
  for (const Slot other : {Slot{0}, Slot{2}}) {  // As the one that calls, and as the other.
    Process a(world, 1, 0);
    {
      Process b(world, other, 1);
      join(a, b);
    }
    REQUIRE(a.wait_for_told(2));
    Process b(world, other, 2);
    join(a, b);
    a.send(other, numbered(0, 0, 1));
    CHECK(b.wait_for_frames(1));
    CHECK(a.told() == ToldList{connected(other, 1), lost(other, 1), connected(other, 2)});
  }
}

TEST_CASE_TEMPLATE("a new incarnation takes the place of one that is still there", World,
                   TRANSPORTS) {
  World world;
  for (const Slot other : {Slot{0}, Slot{2}}) {
    Process a(world, 1, 0);
    Process old_b(world, other, 1);
    join(a, old_b);
    Process new_b(world, other, 2);
    a.connect(new_b);
    new_b.connect(a);
    REQUIRE(a.wait_for_told(3));
    REQUIRE(old_b.wait_for_told(2));
    REQUIRE(new_b.wait_for_told(1));
    CHECK(a.told() == ToldList{connected(other, 1), lost(other, 1), connected(other, 2)});
    CHECK(old_b.told() == ToldList{connected(1, 0), lost(1, 0)});

    old_b.send(1, numbered(0, 0, 1));  // Into the void.
    new_b.send(1, numbered(0, 1, 1));
    REQUIRE(a.wait_for_frames(1));
    CHECK(a.frames()[0].to == 1);
  }
}

TEST_CASE_TEMPLATE("an incarnation older than one that is known is refused", World, TRANSPORTS) {
  World world;
  Process a(world, 1, 0);
  Process new_b(world, 2, 5);
  join(a, new_b);

  Process old_b(world, 2, 4, {}, milliseconds(100));
  old_b.connect(a);
  REQUIRE(old_b.wait_for_told(1));
  CHECK(old_b.told() == ToldList{lost(1, 0)});
  a.connect(old_b);
  REQUIRE(a.wait_for_told(2));
  CHECK(a.told() == ToldList{connected(2, 5), lost(2, 4)});

  new_b.send(1, numbered(0, 0, 1));
  CHECK(a.wait_for_frames(1));
}

TEST_CASE_TEMPLATE("a peer that has not started yet is waited for", World, TRANSPORTS) {
  World world;
  Process b(world, 2, 0);
  std::string address;
  {
    Process a(world, 1, 0);
    address = a.transport().address();
    join(a, b);
  }
  REQUIRE(b.wait_for_told(2));
  Process a(world, 1, 1);
  b.connect(a);  // `a` has not been told of `b`.
  REQUIRE(b.wait_for_told(3));
  CHECK(b.told()[2] == connected(1, 1));
}

TEST_CASE_TEMPLATE("a peer that does not come is lost in time, whoever has to call", World,
                   TRANSPORTS) {
  World world;
  std::string nowhere;
  {
    Process gone(world, 0, 0);
    nowhere = gone.transport().address();
  }
  Process a(world, 1, 0, {}, milliseconds(50));
  a.transport().connect(0, 3, nowhere);
  REQUIRE(a.wait_for_told(1));
  a.transport().connect(2, 4, nowhere);
  REQUIRE(a.wait_for_told(2));
  CHECK(a.told() == ToldList{lost(0, 3), lost(2, 4)});
}

TEST_CASE_TEMPLATE("a frame to nobody is dropped", World, TRANSPORTS) {
  World world;
  Process a(world, 0, 0), b(world, 1, 0);
  a.send(1, numbered(0, 0, 1));
  a.send(77, numbered(0, 0, 1));
  a.send(4'000'000'000, numbered(0, 0, 1));
  join(a, b);
  a.send(1, numbered(0, 1, 1));
  REQUIRE(b.wait_for_frames(1));
  CHECK(b.frames()[0].to == 1);
}

TEST_CASE_TEMPLATE("threads may send while their peer dies and comes back", World, TRANSPORTS) {
  World world;
  Process a(world, 0, 0);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; !stop; ++i) {
        a.send(1, numbered(t, i, i % 20 == 0 ? 100'000 : 10));
        std::this_thread::yield();
      }
    });
  }
  for (std::uint32_t incarnation = 0; incarnation < 10; ++incarnation) {
    std::atomic<bool> received = false;
    std::atomic<bool> right = true;
    Process b(world, 1, incarnation, [&](Slot, const wire::Frame& frame) {
      if (!is_numbered(frame)) right = false;
      received = true;
      received.notify_all();
    });
    a.connect(b);
    b.connect(a);
    REQUIRE(b.wait_for_told(1));
    received.wait(false);
    CHECK(right);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
}
