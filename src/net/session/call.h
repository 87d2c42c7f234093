#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "loop/poller.h"
#include "net/rings/rings.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "net/socket/connection.h"
#include "net/socket/dial.h"
#include "net/socket/mpi_world.h"

namespace piracema::net {

/// Whether processes of one host talk by shared memory.
enum class SharedMemory {
  never,
  allowed,   ///< Where it can be had; else by TCP.
  required,  ///< Or not at all.
};

/// One peer being called: dialled and greeted, and again a little later when it does not answer
/// as it should, for it may still be starting. A peer of this host is called on its local socket,
/// and offered shared memory, before it is tried by TCP. Belongs to the poller's thread.
class Call {
 public:
  struct Whom {
    Slot slot = 0;
    std::uint32_t incarnation = 0;
    std::string address;
  };
  /// A connection whose peer is the one wanted, still to be trusted, with its rings; or why the
  /// last attempt before the deadline failed. Errc::config at once for an address that is none.
  using OnDone = std::function<void(Result<std::shared_ptr<Connection>>)>;

  /// Calls `on_done` once and later, never from within. It may destroy the Call.
  /// `token` is the key of the job, `sealed` which of its connections are. `mpi` may
  /// be null; it is used for peers of the same world.
  Call(Poller& poller, std::string token, Greeting mine, Whom whom, SharedMemory shared_memory,
       Sealed sealed, MpiWorld* mpi, Time deadline, OnDone on_done);
  /// Hangs up, without a call.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  void dial();
  void dial(const Address& address, bool offer);
  void greet(Fd socket);
  wire::Frame begin(Reach reach);
  Result<Done> offer(const Fd& socket);
  void answered(const wire::Frame& frame);
  Result<Greeting> check(const wire::Frame& frame);
  Result<Done> choose_channel(const Greeting& theirs);
  void failed(Error why);
  void finish(Result<std::shared_ptr<Connection>> result);

  Poller& poller_;
  const std::string token_;
  Greeting mine_;
  const Whom whom_;
  const SharedMemory shared_memory_;
  const Sealed sealed_;
  MpiWorld* const mpi_;
  const Time deadline_;
  OnDone on_done_;

  Addresses addresses_;
  /// Of the connection that is being made.
  std::optional<Handshake> handshake_;
  /// What is offered on the connection that is being made.
  std::unique_ptr<Rings> rings_;
  std::unique_ptr<MpiChannel> mpi_channel_;
  bool tried_locally_ = false;
  /// Why the last attempt failed that did not just run out of time: it says more.
  std::optional<Error> refusal_;
  std::unique_ptr<Dial> dial_;
  std::shared_ptr<Connection> connection_;
  Poller::Timer next_{};
};

}  // namespace piracema::net
