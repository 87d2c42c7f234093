#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/capsule.h"
#include "ckpt/control.h"
#include "ckpt/guard.h"
#include "ckpt/hosts.h"
#include "ckpt/job_directory.h"
#include "ckpt/keeper.h"
#include "ckpt/outlook.h"
#include "ckpt/output_tail.h"
#include "ckpt/planner.h"
#include "ckpt/store_scout.h"
#include "net/poller.h"

namespace piracema::ckpt {

/// When the machine is lent.
struct LentSpan {
  Time opens{}, closes{};
};

struct RunSettings {
  std::string criu;
  /// This program's file.
  std::string program;
  /// Where the job runs, if not here alone.
  HostsSettings several;
  KeeperSettings keeper;
  /// The window that is open at that time or the next one; none: never again. Empty: always.
  std::function<std::optional<LentSpan>(Time)> window;
  /// Called at SIGUSR1: whether to stop. Empty: the signal is not ours.
  std::function<bool()> warned;
  /// How often a window may close before the job is saved in it.
  double risk = 0.01;
  /// Images to keep.
  std::size_t keep = 2;
  /// Only warnings and errors.
  bool quiet = false;
};

/// Runs a job to its end, or to an image: does what a Keeper says. The process has one thread.
class KeeperLoop {
 public:
  /// `directory` is the job's, locked; `job` is what it holds.
  KeeperLoop(std::unique_ptr<JobDirectory> directory, JobFile job, RunSettings settings);
  ~KeeperLoop();

  /// How it ended; output has been passed on by then. An Error if it could not even begin.
  Result<Finish> run();

 private:
  Result<Done> begin();
  Result<Done> watch_signals();
  void tell(const KeeperEvent& event);
  void set_timer();

  void act(const OpenCapsule&);
  void act(const Launch& launch);
  void act(const Dump& dump);
  void act(const KillCapsule&);
  void act(const Answer& answer);
  void act(const HandedBack& back);
  void act(const Finish& finish);
  void act(const Remark& remark);

  Result<Done> send(Order order);
  void hear_capsule();
  void hear(const Report& report);
  void dumped(const Report& report);
  void asked(Caller caller, const std::string& word);
  void asked_to_leave(Caller caller, const std::string& within);
  /// Tells the keeper when a window opens.
  void look_for_window();
  /// Tells it how long a dump may take, now, and again while the job runs.
  void forecast();
  DumpFeatures features() const;
  Outlook outlook() const;
  Result<Done> meet_store();
  void set_guard();
  void hear_scout();
  void learn(double seconds);
  /// Newest first, those whose manifest is of this job and good.
  Result<std::vector<Manifest>> images();
  Result<Done> prepare_restore(const Manifest& manifest, Record& record);
  Result<Done> prepare_restore_on_hosts(const Manifest& manifest);
  void launched(bool ok, bool more, std::string why) { tell(Launched{ok, more, std::move(why)}); }
  /// Passes output on; when it is the last time, waits until it is taken.
  void drain(bool last = false);
  void pass_on(OutputTail& tail, bool last);
  void note(const std::string& text) const;

  net::Poller poller_;
  std::unique_ptr<JobDirectory> directory_;
  JobFile job_;
  const RunSettings settings_;
  ImageStore store_;
  Keeper keeper_;
  /// One of both while a window is open: the job runs here, or on several hosts.
  std::optional<Capsule> capsule_;
  std::unique_ptr<Hosts> hosts_;
  std::optional<OutputTail> output_, error_;
  std::unique_ptr<ControlDoor> door_;
  Fd signals_;
  std::optional<net::Poller::Timer> timer_, forecast_timer_;
  Predictor predictor_;
  std::optional<StoreScout> scout_;
  std::optional<Guard> guard_;
  /// The last look, and since when the next one waits for the store.
  StoreLook look_;
  std::optional<Time> probing_since_;
  /// The window, if there is one.
  Time opened_{}, closes_{};
  /// Of the dump under way, and when it began.
  std::optional<std::pair<DumpFeatures, Time>> dumping_;
  /// No window that closes by then is of interest any more.
  Time windows_done_{};
  /// Of the launch under way.
  std::optional<Manifest> restoring_;
  bool more_images_ = false;
  ImageId image_ = 0;
  std::optional<Finish> finish_;
};

/// What the shell would say: the status itself, or 128 and the signal.
int exit_status_of(int wait_status);

}  // namespace piracema::ckpt
