#include "cluster/driver/job_snapshots.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cluster/driver/agent_setup.h"
#include "cluster/driver/leading.h"
#include "net/session/handshake.h"
#include "store/disk/file_lock.h"
#include "store/open_store.h"

namespace piracema::cluster {

namespace {

Result<Beginning> begin_as(const JobOptions& options, const JobSettings& settings,
                           const JobSnapshots::Wait& wait) {
  store::JobClaim claim;
  if (options.leading != nullptr) {
    claim = {net::public_name(options.leading->token), options.keep_workers};
    if (options.leading->left) return go_on_in(options.snapshots, *options.leading->left, claim);
  }
  const Start start = options.standby  ? Start::standby
                      : options.resume ? Start::resume
                                       : Start::anew;
  return begin_in(options.snapshots, start,
                  settings.workers_come ? std::nullopt : std::optional(settings.slots), wait,
                  options.from, claim);
}

}  // namespace

Result<std::optional<std::string>> JobSnapshots::begin(JobOptions& options, JobSettings& settings,
                                                       const Wait& wait) {
  auto beginning = begin_as(options, settings, wait);
  if (!beginning) return beginning.error();
  const auto& lock = beginning->lock;
  if (options.leading != nullptr && lock && lock->file() != nullptr) {
    Fd& file = *lock->file();
    if (auto shared = store::share_lock(file); !shared) return shared.error();
    *options.leading->lock = std::move(file);
  }
  if (lock) {
    lock->when_lost([this](const Error& why) { poller_.post([this, why] { events_.lost(why); }); });
  }
  beginning_ = *std::move(beginning);
  place_ = options.snapshots;
  store_thread_ = std::make_unique<StoreThread>(*beginning_.store, [this](Event event) {
    poller_.post([this, event = std::move(event)] { events_.happened(event); });
  });
  std::optional<std::string> nothing_to_do;
  if (beginning_.taken_over) {
    options.keep_workers = std::max(options.keep_workers, beginning_.taken_over->keep);
  } else if (options.standby) {
    nothing_to_do = concat("the job of ", place_, " is over");
  } else if (options.resume) {
    const store::Manifest& newest = *beginning_.newest;
    settings.resume = newest.snapshot;
    settings.found = beginning_.found;
    if (newest.finished) {
      nothing_to_do =
          concat("nothing to resume: the run had ended with snapshot ", newest.snapshot);
    }
  }
  return nothing_to_do;
}

std::string JobSnapshots::directory() const {
  const std::string* const directory = beginning_.store ? beginning_.store->directory() : nullptr;
  return directory != nullptr ? *directory : "";
}

Result<Replicas> JobSnapshots::accept(const runtime::Hello& hello,
                                      const JobOptions& options) const {
  Replicas kept;
  if (options.keep_replicas) kept = kept_replicas(beginning_, hello.graph);
  if (beginning_.store) {
    const std::string graph = with_replicas(hello.graph, kept);
    auto ours = accept_job(beginning_, graph, hello.states, options.may_differ);
    if (!ours) return ours.error();
  }
  if (beginning_.store || options.strict) {
    if (auto saved = accept_unsaved(hello.unsaved, options.strict); !saved) return saved.error();
  }
  return kept;
}

Result<std::string> JobSnapshots::mark() {
  // All hosts see the same bucket.
  if (place_.empty() || store::is_address(place_)) return std::string();
  if (!mark_) {
    auto mark = DirectoryMark::leave(as_absolute(place_));
    if (!mark) return mark.error();
    mark_ = *std::move(mark);
  }
  return mark_->path();
}

void JobSnapshots::leave_to_others() {
  if (beginning_.lock) beginning_.lock->leave_to_others();
}

}  // namespace piracema::cluster
