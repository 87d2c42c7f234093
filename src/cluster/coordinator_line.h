#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/messages/control.h"
#include "loop/poller.h"
#include "net/session/coordinator_call.h"
#include "net/socket/connection.h"
#include "run/worker/attachment.h"

namespace piracema::cluster {

/// The way of a worker to its coordinator, and to another one when that is lost: the addresses are
/// tried in turn for a bounded time. What is said meanwhile, and matters, the next one hears.
/// Belongs to the poller's thread.
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

  /// `addresses`: one or several, with commas. `wait` is how long another one is looked for; 0: it
  /// is not.
  CoordinatorLine(net::Poller& poller, const std::string& addresses, std::string token,
                  std::chrono::milliseconds wait, Events events);

  /// Dials.
  void open();
  /// Any thread.
  void say(const runtime::FromWorker& message);

 private:
  void dial();
  void called(Result<std::shared_ptr<net::Connection>> line);
  void heard(const wire::Frame& frame);
  void attach(const runtime::Attach& attach);
  void search(const Error& why);
  void try_again(const Error& why);

  net::Poller& poller_;
  std::vector<std::string> addresses_;
  const std::string token_;
  const std::chrono::milliseconds wait_;
  const Events events_;
  std::unique_ptr<CoordinatorCall> call_;
  std::size_t next_ = 0;
  Time until_{};
  bool had_one_ = false;

  std::mutex mutex_;
  /// Null while there is none.
  std::shared_ptr<net::Connection> line_;
  /// The one before, which may be in the middle of telling that it has ended.
  std::shared_ptr<net::Connection> dropped_;
  runtime::Attachment attachment_;
};

}  // namespace piracema::cluster
