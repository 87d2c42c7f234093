#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/beginning.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/door.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/job_hosts.h"
#include "cluster/driver/leading.h"
#include "cluster/driver/lock_wait.h"
#include "cluster/driver/page_desk.h"
#include "cluster/driver/program_check.h"
#include "cluster/driver/signals.h"
#include "cluster/driver/stop_signals.h"
#include "cluster/driver/store_thread.h"
#include "cluster/driver/succession.h"
#include "cluster/driver/world.h"
#include "control/coordinator/coordinator.h"
#include "host/directory_mark.h"
#include "loop/poller.h"
#include "observe/status/recorder.h"
#include "observe/status/tally.h"

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
  // ---- loop.cpp: from the start to the end -------------------------------------------
  Result<Done> prepare();
  Result<Done> begin_with_snapshots(JobSettings& settings);
  Result<Fd> stand_by(const std::string& lock_path, const std::string& why);
  Result<Done> prepare_succession(const std::string& token);
  Result<Done> open_door();
  std::function<net::Connection::Events(Door::Line)> welcome_onlookers();
  void prepare_launch(const Doorway& doorway);
  Result<Done> call_hosts(const Doorway& doorway);
  bool hosts_change(HostsOfJob now);
  Result<Done> leave_mark();
  void wait_for_hosts();
  void make_world(const Doorway& doorway);
  void turn();
  void vouch();
  void look();
  void give_up_joining();
  void show();
  Time time();
  Time since_start() { return time() - start_; }
  void tell(const Event& event);
  void finish(int code, std::string why);
  void finish(const Error& error);
  bool still_coordinates();
  void depose();
  void leave_to_another();
  void wait_for_all();
  JobReport make_report();

  // ---- actions.cpp: what the coordinator wants ---------------------------------------
  void act(const Spawn&);
  void act(const Kill&);
  void act(const Send&);
  void act(CommitSnapshot&);
  void act(const DropSnapshot&);
  void act(const FindSnapshot&);
  void act(const Tell&);
  void act(const Finish&);
  void act(const Decide&);
  void act(const AnswerRequest&);
  void act(const NameSnapshot&);
  void never_ran(Crew::Id id, std::string why);

  // ---- events.cpp: what happens ------------------------------------------------------
  Result<Done> expected(const runtime::Hello&);
  net::Connection::Events joined(const runtime::Hello&, Door::Line);
  /// Numbers of replicas that the job is to begin with, in place of the program's.
  Replicas first_joined(const runtime::Hello&);
  void plan(const Job&);
  void heard(Crew::Id id, const wire::Frame& frame);
  void garbled(Crew::Id id, const std::string& why);
  void inject_kills();
  void exited(const Exited&, const Exit&);
  void signalled(int number);
  void stop();
  void user_asked(UserRequest request, observe::Board::Answer answer);

  JobOptions options_;
  JobObserver& observer_;
  const std::function<void(const Doorway&)> at_door_;
  const Time start_ = now();
  net::Poller poller_;
  Signals signals_;
  Tally tally_;
  /// Null when nobody looks on.
  std::unique_ptr<observe::Recorder> recorder_;
  /// When it shows what it knows next.
  Time next_show_ = start_;
  Crew crew_;
  Beginning beginning_;
  /// Only where another coordinator may take the job over.
  std::optional<Succession> succession_;
  /// This one has.
  bool takes_over_ = false;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<Door> door_;
  /// Of a job with several coordinators; the desk only if the job is shown. It is gone after
  /// `answers_`, for which it may wait.
  std::optional<Onlookers> onlookers_;
  std::optional<PageDesk> page_desk_;
  /// Null when others start all processes: mpirun, or somebody.
  std::unique_ptr<JobHosts> hosts_;
  /// In the directory of snapshots, if other hosts have to see it.
  std::unique_ptr<DirectoryMark> mark_;
  std::unique_ptr<StoreThread> store_thread_;
  Launch launch_;
  /// Null when mpirun does not start the processes.
  std::unique_ptr<World> world_;

  /// Processes that wait for the first one to join.
  std::vector<Crew::Id> waiting_;
  /// The coordinator was told something.
  bool begun_ = false;
  std::optional<HostsOfJob> listed_before_;
  bool anybody_joined_ = false;
  bool planned_ = false;
  /// Messages of workers that nobody could read.
  int garbled_ = 0;
  /// Who has asked for something and waits for the answer.
  std::map<std::uint64_t, observe::Board::Answer> answers_;
  std::uint64_t asked_ = 0;
  StopSignals stop_signals_;
  int stop_signal_ = 0;
  Time join_by_{};
  Time next_look_ = start_;
  Time last_time_ = start_;
  /// The time of everything that happens, while what has arrived by then is told.
  std::optional<Time> frozen_;
  std::optional<Finish> finish_;
  /// Another one coordinates, or may: nothing more is done for the job.
  bool deposed_ = false;
};

}  // namespace piracema::cluster
