#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/door.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/onlookers.h"
#include "cluster/driver/page_desk.h"
#include "cluster/driver/past_news.h"
#include "loop/poller.h"
#include "observe/status/board.h"

namespace piracema::cluster {

/// Where a job can be reached: its door, and those that have come there to look on, who ask for its
/// page if it has one. Belongs to the poller's thread.
class Entrance {
 public:
  /// As of Door.
  struct Events {
    std::function<Result<Done>(const runtime::Hello&)> expected;
    std::function<net::Connection::Events(const runtime::Hello&, Door::Line)> joined;
    std::function<Result<net::Connection::Events>(const AgentHello&, Door::Line)> agent;
    /// As of Onlookers; only if the job is shown.
    Onlookers::Past past;
  };

  /// Opens it where `options` say, which outlive this. Somebody may look on if there are several
  /// coordinators. Destroying it may wait, as PageDesk does. Errors as Door has them.
  static Result<std::unique_ptr<Entrance>> open(net::Poller& poller, const JobOptions& options,
                                                const std::string& token, Events events);

  Door& door() { return *door_; }
  /// Where processes come that are on another host, if any are to; else where all come.
  const std::string& address() const { return address_; }

  /// Call a few times a second; `coordinators` is where all of them are.
  void show_life(const std::vector<std::string>& coordinators);
  /// Nobody comes in any more: as Door has it.
  void hold() { door_->hold(); }
  /// The job is over. Those that look on hear it.
  void over(int code);
  /// Another one has the job: whoever is here, or comes, looks for that.
  void shut();

 private:
  Entrance() = default;

  std::unique_ptr<Door> door_;
  std::string address_;
  std::optional<Onlookers> onlookers_;
  /// Only if the job is shown.
  std::optional<PageDesk> page_desk_;
  std::optional<PastNews> past_news_;
};

}  // namespace piracema::cluster
