#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "loop/poller.h"
#include "loop/stranger_warnings.h"
#include "net/rings/byte_channel.h"
#include "net/session/handshake.h"
#include "net/socket/connection.h"
#include "net/socket/listener.h"

namespace piracema::net {

/// Where others connect and say who they are. Those who do not, or are not of this job, are cut
/// off with a warning. Belongs to the poller's thread.
class Reception {
 public:
  struct Answer {
    Greeting ours;
    /// May be null.
    std::unique_ptr<ByteChannel> channel;
  };
  struct Events {
    /// Says why the one who calls is not wanted, if so. His version is right; that he has the key
    /// is not proven yet.
    std::function<Result<Done>(const Greeting& greeting)> check;
    /// He has been checked: what we say of ourselves, and how his frames are to come if not by the
    /// socket.
    std::function<Result<Answer>(const Greeting& greeting, Connection& connection)> answer;
    /// He has the key, and has been checked again; he waits to be trusted.
    std::function<void(const Greeting& greeting, std::shared_ptr<Connection> connection)> greeted;
  };

  /// Errors are those of Listener.
  static Result<std::unique_ptr<Reception>> open(Poller& poller, const std::string& host,
                                                 std::uint16_t port, std::string token,
                                                 Sealed sealed, std::chrono::milliseconds timeout,
                                                 Events events);
  ~Reception();

  /// Where the processes of this host find a local socket too. Errors are those of Listener.
  Result<Done> listen_locally();

  /// As Addresses::parse reads it.
  std::string address() const;

 private:
  struct Stranger {
    std::shared_ptr<Connection> connection;
    std::string host;
    Handshake handshake;
    /// Once he has called, and was answered.
    std::optional<Greeting> greeting = {};
    std::unique_ptr<ByteChannel> channel = {};
  };

  Reception(Poller& poller, std::string token, Sealed sealed, std::chrono::milliseconds timeout,
            Events events);

  void accept(Fd socket, const Address& from);
  void read(std::uint64_t id, const wire::Frame& frame);
  Result<Done> take_call(Stranger& stranger, const wire::Frame& frame) const;
  Result<Done> take_proof(Stranger& stranger, const wire::Frame& frame) const;
  void refuse(std::uint64_t id, const Error& why);

  Poller& poller_;
  const std::string token_;
  const Sealed sealed_;
  const std::chrono::milliseconds timeout_;
  const Events events_;
  std::unique_ptr<Listener> listener_, local_listener_;
  std::map<std::uint64_t, Stranger> strangers_;
  std::uint64_t stranger_count_ = 0;
  /// Of each host.
  std::map<std::string, std::string> last_warnings_;
  StrangerWarnings warnings_;
};

}  // namespace piracema::net
