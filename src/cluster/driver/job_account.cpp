#include "cluster/driver/job_account.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::milliseconds show_every{1'000};

}  // namespace

JobAccount::JobAccount(observe::Board* board, bool leads) : board_(board) {
  if (board_ == nullptr) return;
  observe::JobFacts facts = board_->latest()->facts;
  if (leads) {
    facts.coordinator = observe::coordinator_from_now_on();
    past_.emplace(facts);
  }
  recorder_ = std::make_unique<observe::Recorder>(std::move(facts));
}

// Time goes on as it has while this one stood by.
void JobAccount::goes_on() {
  if (board_ == nullptr || past_) return;
  observe::JobFacts facts = board_->latest()->facts;
  facts.coordinator = observe::coordinator_from_now_on();
  past_.emplace(facts, facts.started_at);
  recorder_ = std::make_unique<observe::Recorder>(std::move(facts));
}

void JobAccount::joined(Time at, const runtime::Hello& hello, const std::string& host) {
  if (recorder_) recorder_->joined(at, hello.slot, hello.incarnation, hello.pid, host);
}

void JobAccount::plan(const Job& job) {
  has_plan_ = true;
  tally_.plan(job);
  if (recorder_) recorder_->plan(job);
}

void JobAccount::said(Time at, Slot slot, const runtime::FromWorker& message) {
  if (recorder_) recorder_->heard(at, slot, message);
}

void JobAccount::beats(Slot slot, const runtime::Heartbeat& heartbeat,
                       const Coordinator& coordinator) {
  tally_.heard(slot, heartbeat, emitted_at_restore(coordinator));
}

void JobAccount::noted(Time at, const Note& note) {
  tally_.noted(at, note);
  if (recorder_) recorder_->noted(at, note);
  // What has just happened is shown at the next look.
  next_show_ = {};
}

void JobAccount::ended(const Exit& exit) {
  tally_.report.cpu += exit.cpu;
  tally_.report.peak_bytes = std::max(tally_.report.peak_bytes, exit.peak_bytes);
}

void JobAccount::publish(Time now, Time at, const Coordinator& coordinator,
                         const std::vector<HostNow>& hosts) {
  next_show_ = now + show_every;
  for (const HostNow& host : hosts) recorder_->host_is(at, host.name, host.state);
  show(recorder_->look(at, coordinator, tally_));
}

// One of several coordinators, or after another one, has the job since some time only.
void JobAccount::show(std::shared_ptr<const observe::JobStatus> seen) {
  board_->publish(past_ ? past_->complete(*seen) : std::move(seen), piracema::now());
}

void JobAccount::take_past(const PastOfJob& past) {
  if (!past_) return;
  next_show_ = {};
  if (auto taken = past_->take(past.past); !taken) {
    log(Level::warning, concat("what is shown begins anew here: ", taken.error().message));
  }
}

void JobAccount::look_again(Time at, const Coordinator& coordinator) {
  if (recorder_) recorder_->look(at, coordinator, tally_);
}

JobReport JobAccount::end(Time at, int code, std::string why) {
  JobReport report = std::move(tally_.report);
  report.code = code;
  report.why = std::move(why);
  report.took = at;
  if (recorder_) {
    show(recorder_->end(report.took, report.code, report.why, report));
  }
  struct rusage own {};
  ::getrusage(RUSAGE_SELF, &own);
  for (const timeval& used : {own.ru_utime, own.ru_stime}) {
    report.cpu += std::chrono::seconds(used.tv_sec) + std::chrono::microseconds(used.tv_usec);
  }
  return report;
}

}  // namespace piracema::cluster
