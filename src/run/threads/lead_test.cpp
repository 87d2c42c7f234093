#include "run/threads/lead.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using piracema::net::Poller;
using piracema::runtime::Lead;
using piracema::runtime::Parker;

namespace {

/// A process: the owner's thread, the guest's, and who has called back last.
struct Process {
  Poller poller;
  Lead lead{poller};
  Parker guest;
  std::atomic<std::thread::id> caller;
  std::atomic<int> calls = 0;

  /// Something comes for the guest.
  void come() {
    poller.post([this] {
      caller = std::this_thread::get_id();
      calls += 1;
      guest.wake();
    });
  }
  /// What a replica's thread does between two turns.
  void rest() {
    if (!lead.wait(std::nullopt)) guest.sleep();
  }
  /// The guest's thread: until it has seen itself to what came.
  void lead_once() {
    while (caller.load() != std::this_thread::get_id()) {
      come();
      rest();
    }
  }
};

}  // namespace

TEST_CASE("a guest that comes back soon fetches what comes for it itself") {
  Process process;
  process.lead.invite(process.guest);
  std::thread guest([&] {
    process.lead_once();
    process.lead.stop();
  });
  process.lead.run();
  guest.join();
}

TEST_CASE("who is away for long does not keep what comes for others") {
  Process process;
  process.lead.invite(process.guest);
  std::atomic<std::thread::id> caller;
  std::thread guest([&] {
    process.lead_once();
    // It has had the lead, and works until something that comes for another one has been seen to.
    process.poller.post([&] {
      caller = std::this_thread::get_id();
      caller.notify_one();
    });
    caller.wait({});
    process.lead.stop();
  });
  process.lead.run();
  guest.join();
  CHECK(caller.load() == std::this_thread::get_id());
}

TEST_CASE("a guest that never rests sees between two turns to what comes") {
  Process process;
  process.lead.invite(process.guest);
  std::thread guest([&] {
    while (process.caller.load() != std::this_thread::get_id()) {
      process.come();
      process.lead.visit();
    }
    process.lead.stop();
  });
  process.lead.run();
  guest.join();
}

TEST_CASE("the guest's wait ends when another thread wakes it") {
  Process process;
  process.lead.invite(process.guest);
  std::atomic<int> rests = 0;
  std::thread guest([&] {
    while (rests < 100) {
      process.rest();
      rests += 1;
      rests.notify_all();
    }
    process.lead.stop();
  });
  std::thread other([&] {
    for (int seen = 0; seen < 100; seen = rests) {
      process.guest.wake();
      rests.wait(seen);
    }
  });
  process.lead.run();
  guest.join();
  other.join();
}

TEST_CASE("a wait with an end has one") {
  Process process;
  process.lead.invite(process.guest);
  std::thread guest([&] {
    process.lead_once();
    // Nobody wakes it any more.
    for (int rests = 0; rests < 20; ++rests) process.lead.wait(std::chrono::milliseconds(1));
    process.lead.stop();
  });
  process.lead.run();
  guest.join();
}

TEST_CASE("whoever has the lead, stop ends it") {
  for (int times = 0; times < 50; ++times) {
    Process process;
    process.lead.invite(process.guest);
    std::atomic<bool> over = false;
    std::thread guest([&] {
      for (int round = 0; !over; ++round) {
        process.come();
        if (round == times) process.poller.post([&] { process.lead.stop(); });
        process.rest();
      }
    });
    process.lead.run();
    over = true;
    process.guest.wake();
    guest.join();
    CHECK(process.calls > 0);
  }
}

TEST_CASE("nobody sees to what comes after the stop") {
  for (int times = 0; times < 200; ++times) {
    Process process;
    process.lead.invite(process.guest);
    std::atomic<bool> over = false, late = false;
    std::thread guest([&] {
      process.poller.post([&] {
        process.lead.stop();
        process.poller.post([&] { late = true; });
      });
      while (!over) process.lead.visit();
    });
    process.lead.run();
    over = true;
    guest.join();
    CHECK_FALSE(late);
  }
}
