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
#include "cluster/driver/first_to_join.h"
#include "cluster/driver/job_account.h"
#include "cluster/driver/job_hosts.h"
#include "cluster/driver/job_snapshots.h"
#include "cluster/driver/leading.h"
#include "cluster/driver/onlookers.h"
#include "cluster/driver/page_desk.h"
#include "cluster/driver/signals.h"
#include "cluster/driver/stop_signals.h"
#include "cluster/driver/tenure.h"
#include "cluster/driver/turn_clock.h"
#include "cluster/driver/user_requests.h"
#include "cluster/driver/world.h"
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
  std::function<net::Connection::Events(Door::Line)> welcome_onlookers();
  Result<Done> call_hosts(const Doorway& doorway);
  bool hosts_change(HostsOfJob now);
  void make_world(const Doorway& doorway);

  // ---- what happens
  void turn();
  void vouch(Time now);
  void look(Time now);
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
  void finish(int code, std::string why);
  void finish(const Error& error);
  bool still_coordinates();
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
  FirstToJoin first_;
  JobSnapshots snapshots_;
  Tenure tenure_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Door> door_;
  /// Of a job with several coordinators; the desk only if the job is shown. It is gone after
  /// `requests_`, for which it may wait.
  std::optional<Onlookers> onlookers_;
  std::optional<PageDesk> page_desk_;
  /// Null when others start all processes: mpirun, or somebody.
  std::unique_ptr<JobHosts> hosts_;
  Launch launch_;
  /// Null when mpirun does not start the processes.
  std::unique_ptr<World> world_;
  UserRequests requests_;
  StopSignals stop_signals_;
  int stop_signal_ = 0;

  /// The coordinator was told something.
  bool begun_ = false;
  std::optional<HostsOfJob> listed_before_;
  /// Messages of workers that nobody could read.
  int garbled_ = 0;
  Time next_look_{};
  std::optional<Finish> finish_;
};

}  // namespace piracema::cluster
