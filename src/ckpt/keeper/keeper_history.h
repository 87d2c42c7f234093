#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/keeper.h"
#include "ckpt/keeper/keeper_figures.h"
#include "forecast/dump/outlook.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

/// Makes the figures of a keeper from what happens to it. Pure: the driver tells it all that it
/// tells the keeper, and what the keeper wanted done for that.
class KeeperHistory {
 public:
  /// Of so many checkpoints and troubles the newest are kept.
  static constexpr std::size_t checkpoints_kept = 60, troubles_kept = 20;

  /// `closes_why` is what ends a window that was not asked for: "--for 2h".
  KeeperHistory(const JobFile& job, std::string directory, const KeeperSettings& settings,
                std::string closes_why, Time now);

  /// `keeper` is as it is after that.
  void heard(Time now, const Keeper& keeper, const KeeperEvent& event,
             const std::vector<KeeperAction>& actions);
  /// What the keeper wanted done when it began.
  void began(Time now, const Keeper& keeper, const std::vector<KeeperAction>& actions);
  /// How the job and the store fare.
  void looked(const JobMemory& memory, const Outlook& outlook);
  /// Whether what is forecast is known of a dump that begins now.
  bool has_forecast() const { return figures_.forecast.has_value(); }
  void paused(bool is_paused) { figures_.paused = is_paused; }
  /// The window opens then.
  void waits(Time opens) { figures_.opens = opens; }

  /// With what the keeper means to do next.
  KeeperFigures figures(Time now, const Keeper& keeper) const;

 private:
  void on(const Launched& event);
  void on(const Dumped& event, bool again);
  void on(const CapsuleReady& event);
  void on(const WindowOpened& event);
  void on(const LeaveAsked& event);
  void on(const Forecast& event);
  void on(const Dump& action);
  void on(const HandedBack& action);
  void on(const Finish& action);
  /// What others say of themselves.
  template <class Other>
  void on(const Other&) {}
  void follow(const Keeper& keeper, const std::vector<KeeperAction>& actions);
  KeeperFigures::Checkpoint* under_way();
  void end_dump(KeeperFigures::Outcome outcome, const std::string& why);
  void trouble(const std::string& text);

  const std::string usual_close_;
  KeeperFigures figures_;
  Time now_{};
  /// The dump under way was begun before, and is begun again.
  bool again_ = false;
};

}  // namespace piracema::ckpt
