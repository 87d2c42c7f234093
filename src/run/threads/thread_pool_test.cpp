#include "run/threads/thread_pool.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>

#include "base/ensure.h"
#include "base/fd.h"
#include "run/threads/own_threads.h"

using namespace piracema;
using namespace piracema::runtime;

namespace {

constexpr Actor::Turn again{Actor::Next::again}, rest{Actor::Next::rest}, ended{Actor::Next::ended};

/// Its turns are a function.
class Doing final : public Actor {
 public:
  explicit Doing(std::function<Turn()> turn) : turn_(std::move(turn)) {}

 private:
  Turn turn() override {
    ENSURE(!busy_.exchange(true));  // By one thread at a time.
    const Turn done = turn_();
    busy_ = false;
    return done;
  }
  std::function<Turn()> turn_;
  std::atomic<bool> busy_{false};
};

/// Actors that one kind of threads runs; joined together, as those of a process.
struct Company {
  explicit Company(std::size_t permits) {
    if (permits == 0) {
      threads = std::make_unique<OwnThreads>(std::vector<std::uint32_t>());
    } else {
      threads = std::make_unique<ThreadPool>(permits);
    }
  }
  Doing& add(std::function<Actor::Turn()> turn) { return actors.emplace_back(std::move(turn)); }
  void run() {
    for (Doing& actor : actors) threads->start(actor);
    for (Doing& actor : actors) threads->join(actor);
  }

  std::deque<Doing> actors;
  std::unique_ptr<Threads> threads;
};

/// A thread each, and as few as one for all.
template <class Test>
void with_all_kinds_of_threads(Test test) {
  for (const std::size_t permits : {0, 1, 2, 3}) {
    CAPTURE(permits);
    Company company(permits);
    test(company);
  }
}

}  // namespace

TEST_CASE("actors that wake each other round a ring get all their turns") {
  with_all_kinds_of_threads([](Company& company) {
    constexpr int members = 7, rounds = 300;
    std::vector<std::atomic<int>> letters(members);
    letters[0] = 1;
    std::vector<int> taken(members);
    for (int i = 0; i < members; ++i) {
      company.add([&, i] {
        const auto own = static_cast<std::size_t>(i);
        const auto next = static_cast<std::size_t>((i + 1) % members);
        if (letters[own].exchange(0) == 0) return rest;
        taken[own] += 1;
        letters[next] = 1;
        company.actors[next].parker().wake();
        return taken[own] == rounds ? ended : rest;
      });
    }
    company.run();
    for (const int count : taken) CHECK(count == rounds);
  });
}

TEST_CASE("an actor that always has more to do keeps no other one from its turns") {
  with_all_kinds_of_threads([](Company& company) {
    std::atomic<int> done{0};
    for (int i = 0; i < 3; ++i) company.add([&] { return done == 3 ? ended : again; });
    for (int i = 0; i < 3; ++i) {
      company.add([&, left = 50]() mutable {
        if (--left != 0) return again;
        done += 1;
        return ended;
      });
    }
    company.run();
    CHECK(done == 3);
  });
}

TEST_CASE("an actor that waits in its turn gives its thread to those that it waits for") {
  with_all_kinds_of_threads([](Company& company) {
    // Each waits for the next one, within one turn; the last one waits for nobody.
    constexpr std::size_t count = 5;
    std::vector<std::atomic<bool>> is_done(count + 1);
    is_done[count] = true;
    for (std::size_t i = 0; i < count; ++i) {
      company.add([&, i] {
        while (!is_done[i + 1]) company.threads->wait(company.actors[i]);
        is_done[i] = true;
        if (i != 0) company.actors[i - 1].parker().wake();
        return ended;
      });
    }
    company.run();
    CHECK(is_done[0]);
  });
}

TEST_CASE("an actor that reads from a pipe does not keep its thread from the one that writes") {
  with_all_kinds_of_threads([](Company& company) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const Fd in(ends[0]), out(ends[1]);
    std::atomic<int> got{0};
    for (int i = 0; i < 3; ++i) {
      company.add([&] {
        char byte = 0;
        if (::read(in.get(), &byte, 1) == 1) got += 1;
        return ended;
      });
    }
    company.add([&] {
      ENSURE(::write(out.get(), "abc", 3) == 3);
      return ended;
    });
    company.run();
    CHECK(got == 3);
  });
}

TEST_CASE("an actor that spins for another one is in its way for a while only") {
  with_all_kinds_of_threads([](Company& company) {
    std::atomic<bool> flag{false};
    company.add([&] {
      while (!flag) {
      }
      return ended;
    });
    company.add([&] {
      flag = true;
      return ended;
    });
    company.run();
    CHECK(flag);
  });
}

TEST_CASE(
    "an actor that rests for a time gets its turn without being woken, even beside a busy one") {
  with_all_kinds_of_threads([](Company& company) {
    std::atomic<bool> over{false};
    company.add([&] { return over ? ended : again; });
    company.add([&, left = 5]() mutable {
      if (--left != 0) return Actor::Turn{Actor::Next::rest, std::chrono::milliseconds(1)};
      over = true;
      return ended;
    });
    company.run();
    CHECK(over);
  });
}

TEST_CASE("a pool makes no more threads than it has work for") {
  Company company(2);
  std::atomic<int> turns{0};
  for (int i = 0; i < 200; ++i) {
    company.add([&, left = 20]() mutable {
      turns += 1;
      return --left != 0 ? again : ended;
    });
  }
  company.run();
  CHECK(turns == 200 * 20);
  // Two that work, one that looks on, and those made while one of them was held up by the system.
  CHECK(static_cast<ThreadPool&>(*company.threads).thread_count() < 100);
}
