#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "loop/poller.h"
#include "net/session/handshake.h"
#include "net/socket/connection.h"
#include "net/socket/dial.h"

namespace piracema::cluster {

/// The way of a worker, or of an agent, to its coordinator: dialled, and both have shown the key of
/// the job. To another host it is sealed, unless the coordinator says that the job is plain.
/// Belongs to the poller's thread.
class CoordinatorCall {
 public:
  /// A connection that is still to be trusted; or Errc::config for an address that is none,
  /// Errc::io and Errc::timeout for a coordinator that is not there, Errc::refused for one of
  /// another job.
  using OnDone = std::function<void(Result<std::shared_ptr<net::Connection>>)>;

  /// A coordinator that was stopped (Ctrl-Z) answers when it goes on; one that has died has closed.
  static constexpr std::chrono::milliseconds stopped_answers_within{60'000};

  /// Calls `on_done` once, perhaps from within. It must not destroy this.
  CoordinatorCall(net::Poller& poller, const std::string& address, std::string token,
                  OnDone on_done,
                  std::chrono::milliseconds answers_within = stopped_answers_within);
  ~CoordinatorCall();
  CoordinatorCall(const CoordinatorCall&) = delete;
  CoordinatorCall& operator=(const CoordinatorCall&) = delete;

 private:
  void dialled(Result<Fd> socket);
  void answered(const wire::Frame& frame);

  net::Poller& poller_;
  const std::string token_;
  /// Once it is dialled.
  std::optional<net::Handshake> handshake_;
  const OnDone on_done_;
  const std::chrono::milliseconds answers_within_;
  std::unique_ptr<net::Dial> dial_;
  std::shared_ptr<net::Connection> line_;
};

}  // namespace piracema::cluster
