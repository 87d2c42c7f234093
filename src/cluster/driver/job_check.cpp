#include "cluster/driver/job_check.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/text.h"
#include "store/open_store.h"

namespace piracema::cluster {

namespace {

// That it cannot be written is known before the first item that would have to go there.
Result<Done> check_dead_letters(const std::string& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (file) return Done{};
  return Error{Errc::config, with_errno(concat("dead letters '", path, "'"))};
}

}  // namespace

Result<Done> check_keeping(const JobOptions& options) {
  if (options.keep_workers.count() == 0 || options.transport != "mpi") return Done{};
  return Error{Errc::config,
               "workers that mpirun has started end with it, and it ends with its "
               "coordinator: none can be kept"};
}

Result<Done> check_job(const JobOptions& options, const JobSettings& settings) {
  if (!options.watched_hostfile.empty() && !settings.snapshots) {
    return Error{Errc::config,
                 "workers go to other hosts with a snapshot: no directory of snapshots was given"};
  }
  if (options.resume && !settings.snapshots) {
    return Error{Errc::config, "nothing to resume: no directory of snapshots was given"};
  }
  if ((options.standby || options.keep_workers.count() != 0) && !settings.snapshots) {
    return Error{Errc::config,
                 "what another coordinator has to know is kept beside the snapshots: "
                 "no directory of snapshots was given"};
  }
  const bool left_in_files = options.standby || options.keep_workers.count() != 0;
  // Several coordinators tell each other.
  if (left_in_files && options.leading == nullptr && store::is_address(options.snapshots)) {
    return Error{Errc::config,
                 concat("what another coordinator has to know is kept in files beside the "
                        "snapshots: want a directory, found ",
                        options.snapshots)};
  }
  if (auto can = check_keeping(options); !can) return can;
  if (auto valid = validate(settings); !valid) return valid;
  if (settings.dead_letters) {
    if (auto open = check_dead_letters(options.dead_letters); !open) return open;
  }
  return Done{};
}

}  // namespace piracema::cluster
