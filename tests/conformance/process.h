#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loop/poller_thread.h"
#include "net/transport/in_process.h"
#include "net/transport/tcp_transport.h"

/// What the conformance tests run on: transports of each kind, and processes that use them.
namespace piracema::net {

const std::string test_token = "00112233445566778899aabbccddeeff";

struct InProcess {
  using Timeout = std::chrono::milliseconds;
  std::unique_ptr<Transport> open(Poller& poller, Slot slot, std::uint32_t incarnation,
                                  Transport::Events events, Timeout timeout) {
    return hub.join(poller, slot, incarnation, std::move(events), timeout);
  }
  InProcessHub hub;
};

struct Tcp {
  using Timeout = std::chrono::milliseconds;
  std::unique_ptr<Transport> open(Poller& poller, Slot slot, std::uint32_t incarnation,
                                  Transport::Events events, Timeout timeout) {
    TcpSettings settings;
    settings.me = slot;
    settings.incarnation = incarnation;
    settings.token = token;
    settings.connect_timeout = timeout;
    settings.handshake_timeout = handshake_timeout;
    settings.shared_memory = shared_memory;
    settings.mpi = mpi;
    settings.sealed = sealed;
    auto transport = TcpTransport::open(poller, settings, std::move(events));
    REQUIRE(transport.ok());
    return std::move(*transport);
  }
  std::string token = test_token;
  std::chrono::milliseconds handshake_timeout{5'000};
  SharedMemory shared_memory = SharedMemory::never;
  MpiWorld* mpi = nullptr;
  Sealed sealed = Sealed::between_hosts;
};

/// As between hosts.
struct SealedTcp : Tcp {
  SealedTcp() { sealed = Sealed::everywhere; }
};

/// Processes of one host, which must not fall back to TCP.
struct Shm : Tcp {
  Shm() { shared_memory = SharedMemory::required; }
};

/// All peers are ranks of one world, and this process is all of them.
struct Mpi : Tcp {
  Mpi() { mpi = world; }
  static inline MpiWorld* world = nullptr;
};

/// What transport_test.cpp goes through; it is compiled once more for MPI, to be run by mpirun.
#ifdef CONFORMANCE_BY_MPI
#define TRANSPORTS Mpi
#else
#define TRANSPORTS InProcess, Tcp, SealedTcp, Shm
#endif

/// A process of a job, as far as its peers see: a transport with a thread, and a memory of what
/// was told. Destroying it is its death.
class Process {
 public:
  struct Told {
    enum What { connected, lost } what;
    Slot peer;
    std::uint32_t incarnation;
    std::optional<Error> why;
    bool operator==(const Told& other) const {
      return what == other.what && peer == other.peer && incarnation == other.incarnation;
    }
  };
  using OnFrame = std::function<void(Slot, wire::Frame)>;

  /// `on_frame` is called on the transport's thread; without it frames are kept.
  template <class World>
  Process(World& world, Slot slot, std::uint32_t incarnation, OnFrame on_frame = {},
          std::chrono::milliseconds timeout = std::chrono::milliseconds(5'000))
      : slot_(slot), incarnation_(incarnation), on_frame_(std::move(on_frame)) {
    transport_ = world.open(
        poller_, slot, incarnation,
        {.connected =
             [this](Slot peer, std::uint32_t number) {
               tell([&] { told_.push_back({Told::connected, peer, number, {}}); });
             },
         .received = [this](Slot from, wire::Frame frame) { receive(from, std::move(frame)); },
         .lost =
             [this](Slot peer, std::uint32_t number, Error why) {
               tell([&] { told_.push_back({Told::lost, peer, number, why}); });
             }},
        timeout);
    thread_.emplace(poller_);
  }
  ~Process() { thread_.reset(); }  // First, so that nothing is told any more.

  Slot slot() const { return slot_; }
  Transport& transport() { return *transport_; }
  void send(Slot to, wire::Frame frame) { transport_->send(to, std::move(frame)); }
  void connect(Process& peer) {
    transport_->connect(peer.slot_, peer.incarnation_, peer.transport_->address());
  }

  /// Waits until something is so; false if it is not within 100 seconds. It may ask `told` and
  /// `frames` only.
  template <class Condition>
  [[nodiscard]] bool wait_until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(100), condition);
  }
  [[nodiscard]] bool wait_for_told(std::size_t count) {
    return wait_until([&] { return told_.size() >= count; });
  }
  [[nodiscard]] bool wait_for_frames(std::size_t count) {
    return wait_until([&] { return frames_.size() >= count; });
  }

  std::vector<Told> told() {
    std::lock_guard lock(mutex_);
    return told_;
  }
  std::vector<wire::Frame> frames() {
    std::lock_guard lock(mutex_);
    return frames_;
  }

 private:
  void receive(Slot from, wire::Frame frame) {
    if (on_frame_) return on_frame_(from, std::move(frame));
    tell([&] { frames_.push_back(std::move(frame)); });
  }
  template <class Change>
  void tell(Change change) {
    {
      std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  const Slot slot_;
  const std::uint32_t incarnation_;
  const OnFrame on_frame_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Told> told_;
  std::vector<wire::Frame> frames_;
  Poller poller_;
  std::unique_ptr<Transport> transport_;
  std::optional<PollerThread> thread_;
};

inline Process::Told connected(Slot peer, std::uint32_t incarnation) {
  return {Process::Told::connected, peer, incarnation, {}};
}
inline Process::Told lost(Slot peer, std::uint32_t incarnation) {
  return {Process::Told::lost, peer, incarnation, {}};
}

/// Both want the other, and get it. The one that waits is asked first: if it were called before,
/// it would be told that it is connected, and once more when asked.
inline void join(Process& a, Process& b) {
  const std::size_t a_told = a.told().size();
  const std::size_t b_told = b.told().size();
  Process& waiting = a.slot() < b.slot() ? a : b;
  Process& calling = a.slot() < b.slot() ? b : a;
  waiting.connect(calling);
  calling.connect(waiting);
  REQUIRE(a.wait_for_told(a_told + 1));
  REQUIRE(b.wait_for_told(b_told + 1));
}

}  // namespace piracema::net
