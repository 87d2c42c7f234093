#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/coordinator/coordinator.h"
#include "control/messages/control.h"
#include "host/onlooker_messages.h"
#include "observe/status/board.h"
#include "observe/status/job_past.h"
#include "observe/status/recorder.h"
#include "observe/status/tally.h"
#include "os/process.h"

namespace piracema::cluster {

/// What is known of a job for people: its report, and what is shown of it on a board while it runs.
/// `at` is since the start of the job, and does not go back. Belongs to one thread.
class JobAccount {
 public:
  /// `board` may be null: nobody looks; it outlives this. `leads`: a coordinator that is one of
  /// several coordinates from now on.
  JobAccount(observe::Board* board, bool leads);

  /// As far as the job has come.
  JobReport& report() { return tally_.report; }

  void started(std::uint32_t processes) { tally_.report.processes_started += processes; }
  void joined(Time at, const runtime::Hello& hello, const std::string& host);
  /// The job is known. It outlives this.
  void plan(const Job& job);
  bool has_plan() const { return has_plan_; }
  /// By a process that has its slot still.
  void said(Time at, Slot slot, const runtime::FromWorker& message);
  void beats(Slot slot, const runtime::Heartbeat& heartbeat, const Coordinator& coordinator);
  void noted(Time at, const Note& note);
  void ended(const Exit& exit);
  /// Another coordinator, which is lost, had the job until now. Before anything else is told.
  void goes_on();
  /// What the page of the coordinator before has shown of the past.
  void take_past(const PastOfJob& past);

  /// How a host of the job is.
  struct HostNow {
    std::string name, state;
  };
  /// What is known is shown, if that is due by the clock. `hosts` is asked for only then.
  template <class Hosts>
  void show(Time now, Time at, const Coordinator& coordinator, const Hosts& hosts) {
    if (recorder_ && now >= next_show_) publish(now, at, coordinator, hosts());
  }
  /// All that has happened since then is known to whoever looks at the end.
  void look_again(Time at, const Coordinator& coordinator);
  /// The job is over.
  JobReport end(Time at, int code, std::string why);

 private:
  void publish(Time now, Time at, const Coordinator& coordinator,
               const std::vector<HostNow>& hosts);
  void show(std::shared_ptr<const observe::JobStatus> seen);

  observe::Board* const board_;
  Tally tally_;
  /// Null when nobody looks.
  std::unique_ptr<observe::Recorder> recorder_;
  /// Of one of several coordinators, and of one after another one.
  std::optional<observe::JobPast> past_;
  Time next_show_{};
  bool has_plan_ = false;
};

}  // namespace piracema::cluster
