#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/driver/door.h"
#include "host/onlooker_messages.h"

namespace piracema::cluster {

/// Those that look on while this coordinator leads: the command, which hands on its signals, serves
/// the job's page and hears how the job has ended, and coordinators that were cut off, which hear
/// who there is by now. They come by the door as workers do. Belongs to the poller's thread.
class Onlookers {
 public:
  /// A signal that the command was given.
  using HandedOn = std::function<void(const HandedOnSignal&)>;
  /// Something of the job's page is asked; the answer may come later, from any thread.
  using Asked = std::function<void(const PageAsked&, std::function<void(PageAnswered)> reply)>;
  /// What the page of the coordinator before has shown of the past.
  using Past = std::function<void(const PastOfJob&)>;
  /// `asked` and `past` may be empty: nothing is shown, and whoever asks is told so.
  explicit Onlookers(HandedOn handed_on, Asked asked = {}, Past past = {})
      : handed_on_(std::move(handed_on)), asked_(std::move(asked)), past_(std::move(past)) {}
  ~Onlookers() { leave(); }
  Onlookers(const Onlookers&) = delete;
  Onlookers& operator=(const Onlookers&) = delete;

  /// One has come: what follows on its line.
  net::Connection::Events joined(Door::Line line);
  /// Call a few times a second; `coordinators` is where all of them are.
  void show_life(const std::vector<std::string>& coordinators);
  /// What they are to tell the next one.
  void tell(const PastOfJob& past) { say(past); }
  bool has_any() const { return !lines_.empty(); }
  /// The job is over.
  void over(int code);
  /// Another one leads, or may: they look for it.
  void leave();

 private:
  /// False: that is nothing for an onlooker to say.
  bool heard(const Door::Line& line, const wire::Frame& frame);
  void say(const ToOnlooker& message);
  void lost(const net::Connection* line);

  const HandedOn handed_on_;
  const Asked asked_;
  const Past past_;
  std::vector<Door::Line> lines_;
};

}  // namespace piracema::cluster
