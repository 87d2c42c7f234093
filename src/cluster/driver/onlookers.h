#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/driver/door.h"
#include "host/onlooker_messages.h"

namespace piracema::cluster {

/// Those that look on while this coordinator leads: the command, which hands on its signals and
/// hears how the job has ended, and coordinators that were cut off, which hear who there is by now.
/// They come by the door as workers do. Belongs to the poller's thread.
class Onlookers {
 public:
  /// A signal that the command was given.
  using HandedOn = std::function<void(const HandedOnSignal&)>;
  explicit Onlookers(HandedOn handed_on) : handed_on_(std::move(handed_on)) {}
  ~Onlookers() { leave(); }
  Onlookers(const Onlookers&) = delete;
  Onlookers& operator=(const Onlookers&) = delete;

  /// One has come: what follows on its line.
  net::Connection::Events joined(Door::Line line);
  /// Call a few times a second; `coordinators` is where all of them are.
  void show_life(const std::vector<std::string>& coordinators);
  /// The job is over.
  void over(int code);
  /// Another one leads, or may: they look for it.
  void leave();

 private:
  void say(const ToOnlooker& message);
  void lost(const net::Connection* line);

  const HandedOn handed_on_;
  std::vector<Door::Line> lines_;
};

}  // namespace piracema::cluster
