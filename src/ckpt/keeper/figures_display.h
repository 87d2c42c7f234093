#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "ckpt/keeper/keeper.h"
#include "ckpt/keeper/keeper_history.h"
#include "forecast/dump/outlook.h"
#include "loop/poller.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

/// Shows the figures of a keeper: once a second, and whenever it is told to. Belongs to the
/// poller's thread.
class FiguresDisplay {
 public:
  struct Calls {
    /// How the job and the store fare now. It looks through all of /proc, so it is asked only now
    /// and then.
    std::function<std::pair<JobMemory, Outlook>()> look;
    std::function<void(const KeeperFigures&)> show;
  };
  /// `keeper` and `history` are told everything by others. All of them outlive it.
  FiguresDisplay(net::Poller& poller, const Keeper& keeper, KeeperHistory& history, Calls calls)
      : poller_(poller), keeper_(keeper), history_(history), calls_(std::move(calls)) {}
  ~FiguresDisplay();

  /// Now, and each second from now on.
  void begin();
  void show() const { calls_.show(history_.figures(now(), keeper_)); }

  /// A dump begins. What is forecast for it may be some seconds old: it is not kept waiting for
  /// what is said of it. It is looked at now if nothing is known.
  void know_forecast();
  /// Much has changed: it is looked at with the next second.
  void look_soon() { looked_at_ = {}; }

 private:
  void look();

  net::Poller& poller_;
  const Keeper& keeper_;
  KeeperHistory& history_;
  const Calls calls_;
  std::optional<net::Poller::Timer> next_;
  Time looked_at_{};
};

}  // namespace piracema::ckpt
