#include "cluster/driver/entrance.h"

#include <chrono>
#include <utility>

#include "cluster/driver/leading.h"
#include "observe/status/job_past.h"

namespace piracema::cluster {

namespace {
constexpr std::chrono::seconds tell_past_every{1};
}  // namespace

Result<std::unique_ptr<Entrance>> Entrance::open(net::Poller& poller, const JobOptions& options,
                                                 const std::string& token, Events events) {
  std::unique_ptr<Entrance> entrance(new Entrance);
  Door::Events at_door{.expected = std::move(events.expected),
                       .joined = std::move(events.joined),
                       .agent = std::move(events.agent)};
  if (options.leading != nullptr) {
    Onlookers::Asked asked;
    if (options.board != nullptr) {
      PageDesk& desk = entrance->page_desk_.emplace(*options.board);
      asked = [&desk](const PageAsked& question, PageDesk::Reply reply) {
        desk.ask(question, std::move(reply));
      };
    }
    Onlookers::Past past;
    if (options.board != nullptr) past = std::move(events.past);
    entrance->board_ = options.board;
    Onlookers& onlookers =
        entrance->onlookers_.emplace(options.leading->handed_on, std::move(asked), std::move(past));
    at_door.onlooker = [&onlookers](Door::Line line) { return onlookers.joined(std::move(line)); };
  }
  auto door = Door::open(poller, token, std::move(at_door),
                         options.leading != nullptr ? options.leading->host : "127.0.0.1",
                         options.leading != nullptr ? options.leading->port : std::uint16_t{0},
                         options.plain ? net::Sealed::nowhere : net::Sealed::between_hosts);
  if (!door) return door.error();
  entrance->door_ = *std::move(door);
  entrance->address_ = entrance->door_->address();
  if (!options.listen.empty()) {
    auto listens = entrance->door_->listen(options.listen);
    if (!listens) return listens.error();
    entrance->address_ = *std::move(listens);
  }
  return entrance;
}

void Entrance::show_life(const std::vector<std::string>& coordinators) {
  if (!onlookers_) return;
  onlookers_->show_life(coordinators);
  if (board_ != nullptr) tell_past();
}

// Once a second at most; somebody has to be there, and the job has to have begun.
void Entrance::tell_past() {
  const Time at = now();
  if (!onlookers_->has_any() || at - told_at_ < tell_past_every) return;
  auto latest = board_->latest();
  if (latest == told_ || latest->nodes.empty()) return;
  onlookers_->tell({observe::JobPast::told(*latest)});
  told_ = std::move(latest);
  told_at_ = at;
}

void Entrance::over(int code) {
  if (onlookers_) onlookers_->over(code);
}

void Entrance::shut() {
  door_->shut();
  if (onlookers_) onlookers_->leave();
}

}  // namespace piracema::cluster
