#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "council/group_state.h"
#include "host/coordinator_search.h"
#include "host/coordinator_watch.h"
#include "host/onlooker_messages.h"
#include "loop/poller.h"
#include "net/socket/connection.h"

namespace piracema::council {

/// The way of who looks on, the command or a coordinator that the others do not answer, to
/// whichever coordinator leads, also to one that nobody knew when the job began: it calls them as
/// workers do, and hears from the one that leads where all are. Belongs to the poller's thread.
class LeaderLine {
 public:
  struct Events {
    /// The job is over, with this exit code.
    std::function<void(int code)> over;
    /// Where all coordinators are by now; may be empty, as what follows.
    std::function<void(const std::vector<std::string>& doors)> are = {};
    /// Somebody is there; and no longer, or another one is.
    std::function<void()> came = {}, left = {};
    std::function<void(cluster::PageAnswered answer)> answered = {};
    /// What the page shows of the past by now.
    std::function<void(cluster::PastOfJob past)> past = {};
  };

  /// Looks for it from now on at these addresses, `doors`.
  LeaderLine(net::Poller& poller, std::string token, std::vector<std::string> doors, Events events);
  ~LeaderLine();
  LeaderLine(const LeaderLine&) = delete;
  LeaderLine& operator=(const LeaderLine&) = delete;

  /// Hands a signal on. False if nobody is there.
  bool say(const Signalled& signalled);
  /// The same of a question about the job's page, which may be lost with whoever leads.
  bool ask(const cluster::PageAsked& asked);
  /// The same of what the one that led before has told of the past.
  bool tell(const cluster::PastOfJob& past);
  bool is_there() const { return line_ != nullptr; }
  /// When somebody was there last; at first, when it began.
  Time seen_at() const { return is_there() ? now() : seen_at_; }

 private:
  bool send(const cluster::FromOnlooker& message);
  void called(Result<std::shared_ptr<net::Connection>> line);
  void heard(const net::Connection* on, const wire::Frame& frame);
  void lost(const net::Connection* line, const Error& why);

  const Events events_;
  cluster::CoordinatorSearch search_;
  cluster::CoordinatorWatch watch_;
  std::shared_ptr<net::Connection> line_;
  Time seen_at_ = now();
};

}  // namespace piracema::council
