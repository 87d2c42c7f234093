#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "control/messages/control.h"
#include "host/coordinator_search.h"
#include "host/coordinator_watch.h"
#include "loop/poller.h"
#include "net/socket/connection.h"
#include "run/worker/attachment.h"

namespace piracema::cluster {

/// The way of a worker to its coordinator, and to another one when that is lost: their
/// addresses, of which the one that is there tells, are tried in turn for a bounded time. What is
/// said meanwhile, and matters, the next one hears. Belongs to the poller's thread.
class CoordinatorLine {
 public:
  struct Events {
    /// What each of them is told first.
    std::function<runtime::Hello()> hello;
    std::function<void(const runtime::ToWorker&)> received;
    /// Nobody could be reached, or who was does not speak as a coordinator does.
    std::function<void(const Error&)> failed;
    /// There was one, and for as long as it was to be looked for there is no other.
    std::function<void(const Error&)> lost;
  };

  /// `wait` is how long another one is looked for; 0: it is not.
  CoordinatorLine(net::Poller& poller, KnownCoordinators known, std::chrono::milliseconds wait,
                  Events events);

  /// Dials.
  void open();
  /// Any thread.
  void say(const runtime::FromWorker& message);

 private:
  void called(Result<std::shared_ptr<net::Connection>> line);
  void heard(const wire::Frame& frame);
  void attach(const runtime::Attach& attach);
  void search(const Error& why);
  void look_for_others();

  const std::chrono::milliseconds wait_;
  const Events events_;
  CoordinatorSearch search_;
  CoordinatorWatch watch_;
  /// Until when the one that is looked for may come. One that is there and not ours does not put it
  /// off.
  Time until_{};
  bool had_one_ = false, attached_ = false;

  std::mutex mutex_;
  /// Null while there is none.
  std::shared_ptr<net::Connection> line_;
  /// The one before, which may be in the middle of telling that it has ended.
  std::shared_ptr<net::Connection> dropped_;
  runtime::Attachment attachment_;
};

}  // namespace piracema::cluster
