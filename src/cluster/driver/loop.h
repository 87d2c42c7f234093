#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/door.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/ending.h"
#include "cluster/driver/entrance.h"
#include "cluster/driver/garbled_messages.h"
#include "cluster/driver/job_account.h"
#include "cluster/driver/job_snapshots.h"
#include "cluster/driver/launcher.h"
#include "cluster/driver/past_file.h"
#include "cluster/driver/past_news.h"
#include "cluster/driver/signals.h"
#include "cluster/driver/stop_signals.h"
#include "cluster/driver/tenure.h"
#include "cluster/driver/turn_clock.h"
#include "cluster/driver/user_requests.h"
#include "control/coordinator/coordinator.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// A coordinator's hands and ears: what `run_job` is made of. Everything happens on one thread,
/// but for the snapshot store.
class DriverLoop {
 public:
  /// `at_door` may be empty.
  DriverLoop(const JobOptions& options, JobObserver& observer,
             std::function<void(const Doorway&)> at_door = {});

  JobReport run();

 private:
  // ---- how it begins
  Result<Done> prepare();
  Result<Fd> stand_by(const std::string& lock_path, const std::string& why);
  void go_on_after_another();
  Result<Done> open_door();

  // ---- what happens
  void turn();
  void vouch(Time now);
  void look(Time now);
  Result<Done> expected(const runtime::Hello&);
  net::Connection::Events joined(const runtime::Hello&, Door::Line);
  void plan(const Job&);
  void heard(Crew::Id id, const wire::Frame& frame);
  void garbled(Crew::Id id, const std::string& why);
  void exited(const Exited&, const Exit&);
  void signalled(int number);
  void stop();
  /// Why a user cannot have that; nothing: the coordinator is asked.
  std::optional<std::string> refusal(const UserRequest&) const;
  void tell(const Event& event);

  // ---- what the coordinator wants
  void act(const Spawn&);
  void act(const Kill&);
  void act(const Send&);
  /// CommitSnapshot, DropSnapshot, FindSnapshot, NameSnapshot.
  template <class Action>
    requires requires(StoreThread& store, Action& action) { store.act(std::move(action)); }
  void act(Action& of_store) {
    snapshots_.act(std::move(of_store));
  }
  void act(const Tell&);
  void act(const Finish&);
  void act(const Decide&);
  void act(const AnswerRequest& answer) { requests_.answer(answer); }
  void never_ran(Crew::Id id, std::string why);
  void inject_kills();

  // ---- how it ends
  bool still_coordinates();
  bool is_over_for_all(bool prepared);
  void leave_to_another();
  void wait_for_all();

  JobOptions options_;
  JobObserver& observer_;
  const std::function<void(const Doorway&)> at_door_;
  TurnClock clock_;
  net::Poller poller_;
  Signals signals_;
  JobAccount account_;
  Crew crew_;
  JobSnapshots snapshots_;
  Tenure tenure_;
  std::unique_ptr<Coordinator> coordinator_;
  /// Only if the job is shown, and another coordinator may find it there; with what is new of it.
  std::optional<PastFile> past_file_;
  std::optional<PastNews> past_news_;
  /// It is gone after `requests_`, for which it may wait.
  std::unique_ptr<Entrance> entrance_;
  Launcher launcher_;
  UserRequests requests_;
  StopSignals stop_signals_;
  Ending ending_;
  GarbledMessages garbled_;
  Time next_look_{};
};

}  // namespace piracema::cluster
