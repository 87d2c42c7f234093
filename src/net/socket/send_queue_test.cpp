#include "net/socket/send_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "net/socket/rcu_ptr.h"

using namespace piracema;
using namespace piracema::net;

TEST_CASE("one thread writes at a time, and every frame is written, each thread's in order") {
  constexpr std::uint32_t threads_count = 4;
  constexpr std::uint32_t frames_count = 5'000;
  SendQueue queue;
  std::vector<std::uint32_t> next(threads_count, 0);  // Of the writer.
  std::atomic<bool> in_order = true;
  std::atomic<std::uint32_t> written = 0;

  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < threads_count; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < frames_count; ++i) {
        wire::Frame frame;
        frame.from = t;
        frame.to = i;
        if (!queue.push(new Outgoing(std::move(frame)))) continue;
        while (Outgoing* out = queue.take()) {
          while (out != nullptr) {
            const std::unique_ptr<Outgoing> owner(std::exchange(out, out->next));
            if (next[owner->frame.from]++ != owner->frame.to) in_order = false;
            written += 1;
          }
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(in_order);
  CHECK(written == threads_count * frames_count);
}

TEST_CASE("frames that are pushed together are taken together, in their order") {
  SendQueue queue;
  const auto frame = [](std::uint32_t number) {
    wire::Frame made;
    made.to = number;
    return new Outgoing(std::move(made));
  };
  CHECK(queue.push(frame(0)));
  Outgoing* const first = frame(1);
  Outgoing* const last = frame(2);
  last->next = first;
  CHECK_FALSE(queue.push(last, first));

  std::uint32_t next = 0;
  for (Outgoing* out = queue.take(); out != nullptr;) {
    const std::unique_ptr<Outgoing> owner(std::exchange(out, out->next));
    CHECK(owner->frame.to == next++);
  }
  CHECK(next == 3);
  CHECK(queue.take() == nullptr);
}

TEST_CASE("a value lives for those who read it while it is replaced") {
  struct Value {
    explicit Value(std::atomic<int>& count) : alive(count) { alive += 1; }
    ~Value() {
      alive -= 1;
      mark = 0;
    }
    std::atomic<int>& alive;
    int mark = 42;
  };
  std::atomic<int> alive = 0;
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  RcuPtr<Value> shared;
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        shared.read([&](Value& value) { wrong += value.mark != 42; });
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    shared.replace(i % 3 == 0 ? nullptr : std::make_shared<Value>(alive));
    CHECK(alive == (i % 3 == 0 ? 0 : 1));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  CHECK(wrong == 0);
}
