#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <piracema/socket.h>

#include "loop/poller.h"
#include "loop/stranger_warnings.h"
#include "net/socket/listener.h"

namespace piracema::detail {

/// Takes items from all who connect to a port, without ever waiting. Whoever breaks the framing is
/// cut off with a warning. One thread.
class SocketServer {
 public:
  /// Throws std::runtime_error when it cannot listen there.
  SocketServer(const std::string& address, const SocketOptions& options,
               SocketSource::Framing framing);
  ~SocketServer();

  /// Can be read while `take` has something to do.
  int handle() const { return poller_.handle(); }

  /// Items that have come, in the order of each connection; nothing where one has left.
  using Taken = std::deque<std::optional<std::string>>;
  /// Reads what is there, once from each connection at most. False if there was nothing.
  bool take(Taken& into);

 private:
  struct Caller {
    Fd socket;
    std::string name;
    std::string bytes;
  };

  void accept(Fd socket, const net::Address& from);
  void read(int caller);
  /// Moves whole items from the caller's bytes to `taken_`; says what is wrong with them.
  std::optional<std::string> cut(Caller& caller);
  std::optional<std::string> cut_lines(Caller& caller);
  std::optional<std::string> cut_lengths(Caller& caller);
  std::string cut_off(Caller& caller);
  void leave(int caller, const std::string& warning);

  const SocketOptions options_;
  const SocketSource::Framing framing_;
  net::Poller poller_;
  std::unique_ptr<net::Listener> listener_;
  /// By their descriptors.
  std::map<int, Caller> callers_;
  Taken* taken_ = nullptr;
  net::StrangerWarnings warnings_{poller_};
};

}  // namespace piracema::detail
