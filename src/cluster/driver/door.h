#pragma once

#include <piracema/error.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/messages/control.h"
#include "host/agent_messages.h"
#include "host/onlooker_messages.h"
#include "loop/poller.h"
#include "loop/stranger_warnings.h"
#include "net/session/handshake.h"
#include "net/socket/connection.h"
#include "net/socket/listener.h"

namespace piracema::cluster {

/// Where the processes of a job reach their coordinator, its agents on other hosts, and those that
/// look on. Lets in who shows that he has the key of the job and says a right Hello; all others are
/// refused with a line in the log. Belongs to the poller's thread.
class Door {
 public:
  using Line = std::shared_ptr<net::Connection>;
  struct Events {
    /// Whether this is a process that is expected; the error says what was. It is sent away, to
    /// end, unless the error is Errc::lost: then somebody else may expect it.
    std::function<Result<Done>(const runtime::Hello&)> expected;
    /// What follows on a connection that was let in. Not called from within.
    std::function<net::Connection::Events(const runtime::Hello&, Line)> joined;
    /// The same of an agent, or why it is not wanted; may be empty: none is.
    std::function<Result<net::Connection::Events>(const AgentHello&, Line)> agent;
    /// The same of those that look on; may be empty: nobody does.
    std::function<net::Connection::Events(Line)> onlooker = {};
  };

  /// Listens at this numeric address, which is loopback's if it is not said; 0: at any port.
  static Result<std::unique_ptr<Door>> open(net::Poller& poller, std::string token, Events events,
                                            const std::string& host = "127.0.0.1",
                                            std::uint16_t port = 0,
                                            net::Sealed sealed = net::Sealed::between_hosts);
  ~Door();

  /// The one that it was opened at.
  std::string address() const { return listeners_.front()->address(); }
  /// All of them.
  std::vector<std::string> addresses() const;
  /// Listens at this numeric address of the machine as well, for other hosts; where.
  Result<std::string> listen(const std::string& host, std::uint16_t port = 0);
  /// The job is over: nobody comes in any more, and who is at the door has not done anything wrong.
  /// He hears nothing, as one who was just started has to be ended before he could complain.
  void hold();
  /// There is another door: who is at this one, or comes, finds it closed and looks for that.
  void shut();

 private:
  Door(net::Poller& poller, std::string token, Events events, net::Sealed sealed);

  struct Stranger {
    std::string peer;
    Line line;
    net::Handshake handshake;
    enum class Wants { call, proof, hello } wants = Wants::call;
  };

  void accept(Fd socket, const std::string& peer);
  void hear(std::uint64_t stranger, const wire::Frame& frame);
  Result<Done> take(Stranger& stranger, const wire::Frame& frame);
  Result<Done> let_in(Stranger& stranger, const wire::Frame& frame);
  Result<net::Connection::Events> welcome(Line line, const wire::Frame& frame) const;
  void refuse(std::uint64_t stranger, const std::string& why);

  net::Poller& poller_;
  const std::string token_;
  const Events events_;
  const net::Sealed sealed_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::map<std::uint64_t, Stranger> strangers_;
  std::uint64_t stranger_count_ = 0;
  bool held_ = false;
  net::StrangerWarnings warnings_;
};

}  // namespace piracema::cluster
