#include "cluster/driver/entrance.h"

#include <utility>

#include "cluster/driver/leading.h"

namespace piracema::cluster {

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
    if (options.board != nullptr) {
      past = std::move(events.past);
      entrance->past_news_.emplace(*options.board);
    }
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
  if (!past_news_ || !onlookers_->has_any()) return;
  if (const auto past = past_news_->next(now())) onlookers_->tell(*past);
}

void Entrance::over(int code) {
  if (onlookers_) onlookers_->over(code);
}

void Entrance::shut() {
  door_->shut();
  if (onlookers_) onlookers_->leave();
}

}  // namespace piracema::cluster
