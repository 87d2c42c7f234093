#pragma once

#include <piracema/error.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/connection.h"
#include "net/listener.h"
#include "net/poller.h"
#include "run/control.h"

namespace piracema::cluster {

/// Where the processes of a job reach their coordinator. Lets in who says a right Hello; all
/// others are refused with a line in the log. Belongs to the poller's thread.
class Door {
 public:
  using Line = std::shared_ptr<net::Connection>;
  /// Whether this Hello is of a process that is expected; the error says what was.
  using Expected = std::function<Result<Done>(const runtime::Hello&)>;
  /// What follows on a connection that was let in. Not called from within `OnJoined`.
  using OnJoined = std::function<net::Connection::Events(const runtime::Hello&, Line)>;

  /// Listens on the loopback interface.
  static Result<std::unique_ptr<Door>> open(net::Poller& poller, std::string token,
                                            Expected expected, OnJoined on_joined);
  ~Door();

  std::string address() const { return listener_->address(); }

  /// 32 hexadecimal digits nobody can guess.
  static Result<std::string> make_token();

 private:
  Door(net::Poller& poller, std::string token, Expected expected, OnJoined on_joined);

  void accept(Fd socket, const std::string& peer);
  void hear(std::uint64_t stranger, const wire::Frame& frame);
  Result<runtime::Hello> read_hello(const wire::Frame& frame) const;
  void refuse(std::uint64_t stranger, const std::string& why);

  struct Stranger {
    std::string peer;
    Line line;
  };

  net::Poller& poller_;
  const std::string token_;
  const Expected expected_;
  const OnJoined on_joined_;
  std::unique_ptr<net::Listener> listener_;
  std::map<std::uint64_t, Stranger> strangers_;
  std::uint64_t stranger_count_ = 0;
  std::uint64_t refused_count_ = 0;
};

}  // namespace piracema::cluster
