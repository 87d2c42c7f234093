#include "tools/ckpt/keeper_board.h"

#include <utility>

namespace piracema::tools {

using ckpt::Keeper;
using ckpt::KeeperFigures;

const char* name_of(Keeper::State state) {
  switch (state) {
    case Keeper::State::away:
      return "waiting";
    case Keeper::State::opening:
      return "opening";
    case Keeper::State::launching:
      return "launching";
    case Keeper::State::running:
      return "running";
    case Keeper::State::saving:
      return "saving";
    case Keeper::State::stopping:
      return "stopping";
    case Keeper::State::over:
      return "over";
  }
  return "over";
}

const char* name_of(KeeperFigures::Outcome outcome) {
  switch (outcome) {
    case KeeperFigures::Outcome::under_way:
      return "under_way";
    case KeeperFigures::Outcome::saved:
      return "saved";
    case KeeperFigures::Outcome::failed:
      return "failed";
    case KeeperFigures::Outcome::given_up:
      return "given_up";
  }
  return "failed";
}

std::string KeeperSight::trouble() const {
  switch (figures.state) {
    case Keeper::State::away:
      return "it waits for its window";
    case Keeper::State::opening:
    case Keeper::State::launching:
      return "it is being launched";
    case Keeper::State::running:
    case Keeper::State::saving:
      return figures.paused ? "it stands still until there is room for its output" : "";
    case Keeper::State::stopping:
      return "it is being saved and ends with that";
    case Keeper::State::over:
      return figures.end.empty() ? "it has ended" : figures.end;
  }
  return "it has ended";
}

void KeeperBoard::show(KeeperFigures figures, std::vector<LoggedLine> lines, Time now) {
  auto sight = std::make_shared<KeeperSight>();
  sight->figures = std::move(figures);
  sight->lines = std::move(lines);
  sight->at = now;
  const std::lock_guard lock(mutex_);
  sight->store = store_;
  latest_ = std::move(sight);
}

void KeeperBoard::show(StoreSight store) {
  const std::lock_guard lock(mutex_);
  store_ = std::move(store);
  if (latest_ == nullptr) return;
  auto sight = std::make_shared<KeeperSight>(*latest_);
  sight->store = store_;
  latest_ = std::move(sight);
}

std::shared_ptr<const KeeperSight> KeeperBoard::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace piracema::tools
