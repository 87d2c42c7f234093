#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "loop/poller.h"
#include "net/session/call.h"
#include "net/session/reception.h"
#include "net/socket/connection.h"
#include "net/socket/rcu_ptr.h"
#include "net/transport/transport.h"

namespace piracema::net {

struct TcpSettings {
  /// This process.
  Slot me = 0;
  std::uint32_t incarnation = 0;
  /// The key of the job: 32 hexadecimal digits that its processes know, and nobody else. It is
  /// never sent.
  std::string token;
  /// Where to listen: a numeric address, and a port, or 0 for any.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  /// Peers have to have the same.
  Sealed sealed = Sealed::between_hosts;
  /// Between processes of one host.
  SharedMemory shared_memory = SharedMemory::never;
  /// Single peers that are called in another way than the others; not by MPI either.
  std::map<Slot, SharedMemory> peers;
  /// Peers of the same world are talked to by MPI, if there is one; it outlives the transport.
  MpiWorld* mpi = nullptr;
  /// A peer has to be connected within this time after `connect`.
  std::chrono::milliseconds connect_timeout{5'000};
  /// Who connects has to say who he is within this time.
  std::chrono::milliseconds handshake_timeout = Connection::stranger_timeout;
};

/// Frames over TCP, one connection between two processes (docs/formats/frame.md); or by shared
/// memory between processes of one host (docs/formats/ring.md); or by MPI between those of one
/// world.
///
/// Events are called on the poller's thread, on which it is also to be destroyed (or while
/// nobody runs the poller); threads that send have ended before. Strangers are refused with a
/// warning, and the process goes on.
class TcpTransport : public Transport {
 public:
  /// Errc::config for settings that make no sense, Errc::io when the port is taken.
  static Result<std::unique_ptr<TcpTransport>> open(Poller& poller, TcpSettings settings,
                                                    Events events);
  ~TcpTransport() override;

  std::string address() const override { return reception_->address(); }
  void connect(Slot peer, std::uint32_t incarnation, std::string address) override;
  void send(Slot to, wire::Frame frame) override;
  void send(Slot to, std::vector<wire::Frame> frames) override;
  std::vector<LinkState> links() override;

 private:
  /// Another process of the job: unknown, wanted (called or waited for) or connected.
  struct Peer {
    Slot slot = 0;
    /// The newest that was heard of.
    std::uint32_t incarnation = 0;
    std::unique_ptr<Call> call;
    std::optional<Poller::Timer> waiting;
    std::shared_ptr<Connection> connection;
    /// The same connection, for those who send.
    RcuPtr<Connection> outlet;

    bool is_wanted() const { return call != nullptr || waiting.has_value(); }
  };

  TcpTransport(Poller& poller, TcpSettings settings, Events events);

  void want(Slot slot, std::uint32_t incarnation, const std::string& address);
  void call(Peer& peer, const std::string& address);
  void wait(Peer& peer);
  void adopt(Peer& peer, std::uint32_t incarnation, std::shared_ptr<Connection> connection);
  void end(Peer& peer, Error why);
  void clear(Peer& peer);

  Result<Done> check(const Greeting& greeting) const;
  Greeting greeting() const;
  bool uses_local_sockets() const;
  Result<Reception::Answer> answer(const Greeting& theirs, Connection& connection);
  Peer& peer(Slot slot);

  Poller& poller_;
  const TcpSettings settings_;
  const Events events_;
  std::unique_ptr<Reception> reception_;
  /// Made when first heard of, and kept: who sends finds them without a lock.
  std::array<std::atomic<Peer*>, slots_max> peers_{};
  /// Expires with this, for what was posted.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace piracema::net
