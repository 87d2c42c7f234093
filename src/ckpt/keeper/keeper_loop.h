#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ckpt/image/job_directory.h"
#include "ckpt/image/job_output.h"
#include "ckpt/image/local_images.h"
#include "ckpt/keeper/control.h"
#include "ckpt/keeper/copies_elsewhere.h"
#include "ckpt/keeper/figures_display.h"
#include "ckpt/keeper/image_commands.h"
#include "ckpt/keeper/keeper.h"
#include "ckpt/keeper/keeper_history.h"
#include "ckpt/keeper/restart.h"
#include "ckpt/keeper/saving.h"
#include "ckpt/keeper/window_watch.h"
#include "ckpt/keeper/workplace.h"
#include "forecast/store/store_watch.h"
#include "loop/poller.h"
#include "os/signal_watch.h"

namespace piracema::ckpt {

struct RunSettings {
  WorkplaceSettings place;
  KeeperSettings keeper;
  /// Empty: always.
  WindowAt window;
  /// What closes it, for people: "--for 2h".
  std::string window_from;
  /// Called at SIGUSR1: whether to stop. Empty: the signal is not ours.
  std::function<bool()> warned;
  /// The job stands still from SIGTSTP to SIGCONT.
  bool suspends = false;
  /// How often a window may close before the job is saved in it.
  double risk = 0.01;
  /// Images to keep.
  std::size_t keep = 2;
  /// Where images are written first while the job runs on; null: to the store.
  std::shared_ptr<LocalImages> local;
  /// Whose disk has a copy of what lies on this node's alone, and the remote shell that reaches it.
  std::optional<Partner> partner;
  std::string rsh;
  /// Their memory is compressed.
  bool compress = false;
  /// Those that the keeper's settings have a time for.
  ImageCommands::Settings commands;
  /// Only warnings and errors.
  bool quiet = false;
  /// Called on the keeper's thread once a second, and after whatever happens; it must not wait.
  /// What is forecast and what processes hold is some seconds old. Empty: nothing is looked at for
  /// it.
  std::function<void(const KeeperFigures&)> figures;
};

/// Runs a job to its end, or to an image: does what a Keeper says. The process has one thread.
class KeeperLoop {
 public:
  /// `directory` is the job's, locked; `job` is what it holds.
  KeeperLoop(std::unique_ptr<JobDirectory> directory, JobFile job, RunSettings settings);
  ~KeeperLoop();

  /// How it ended; output has been passed on by then. An Error if it could not even begin.
  Result<Finish> run();

  /// After `run`: the image that the job went on from last; none: from the beginning.
  std::optional<ImageId> went_on_from() const {
    return restart_ ? restart_->image() : std::nullopt;
  }

 private:
  Result<Done> begin();
  void open_window_watch();
  void open_display();
  void tell(const KeeperEvent& event);
  void handle(const std::vector<KeeperAction>& actions);
  void set_timer();

  void act(const OpenCapsule&);
  void act(const Launch& launch);
  void act(const Dump& dump);
  void act(const RunCommand& run);
  void act(const AskForMoment& ask);
  void act(const Pause& pause);
  void act(const KillCapsule&);
  void act(const Answer& answer);
  void act(const HandedBack& back);
  void act(const Finish& finish);
  void act(const Remark& remark);

  void hear(const Report& report);
  void dumped(const Report& report);
  void prune();
  Result<Done> save(const Dump& dump);
  void open_copies(LocalImages& local);
  void look_at_copies();
  void leave_local_images(const Finish& finish);
  void asked(Caller caller, const std::string& word);
  void signalled(int number);
  void heard_of_room(bool enough);
  void hold();
  void asked_to_leave(Caller caller, const std::string& within);
  void foretold(Time duration, Time ending);
  void note(const std::string& text) const;
  void show();

  net::Poller poller_;
  std::unique_ptr<JobDirectory> directory_;
  const JobFile job_;
  const RunSettings settings_;
  ImageStore images_;
  ImageCommands commands_;
  Keeper keeper_;
  KeeperHistory history_;
  std::optional<net::Poller::Timer> timer_;
  std::optional<Finish> finish_;
  /// Of the dump under way.
  bool at_good_moment_ = false;
  /// There is an image more than is kept, maybe.
  bool prune_is_due_ = false;
  /// Why it is to stand still; and whether it was told so.
  bool is_out_of_room_ = false, is_suspended_ = false, is_paused_ = false;
  bool gives_output_up_ = false;
  /// By the last forecast: to stop the job with an image, and to end its processes without one.
  Time stopping_takes_{}, ending_takes_{};
  /// All of them from `begin` on.
  std::unique_ptr<Workplace> place_;
  std::unique_ptr<StoreWatch> store_;
  std::unique_ptr<SignalWatch> signals_;
  std::unique_ptr<JobOutput> output_;
  std::unique_ptr<ControlDoor> door_;
  std::optional<Restart> restart_;
  std::optional<Saving> saving_;
  std::optional<WindowWatch> window_;
  std::optional<CopiesElsewhere> copies_;
  std::optional<FiguresDisplay> display_;
};

}  // namespace piracema::ckpt
