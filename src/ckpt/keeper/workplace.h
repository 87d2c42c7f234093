#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "ckpt/capsule/capsule.h"
#include "ckpt/capsule/guard.h"
#include "ckpt/hosts/hosts.h"
#include "ckpt/image/job_directory.h"
#include "loop/poller.h"

namespace piracema::ckpt {

struct WorkplaceSettings {
  std::string criu;
  /// This program's file.
  std::string program;
  /// Where the job runs, if not here alone.
  HostsSettings several;
};

/// Where a job runs: a capsule on this host, or one on each of several; opened and killed with each
/// window. Belongs to the poller's thread.
class Workplace {
 public:
  using OnReport = std::function<void(const Report&)>;
  /// It has died, by itself or by somebody; nothing follows until it is opened again.
  using OnDied = std::function<void(const std::string& why)>;

  /// Made by a process of one thread that has nothing yet: its guard is a fork. What it is given
  /// outlives it. Errc::io.
  static Result<std::unique_ptr<Workplace>> start(net::Poller& poller, JobDirectory& directory,
                                                  const JobFile& job, WorkplaceSettings settings,
                                                  OnReport on_report, OnDied on_died);
  ~Workplace() { kill(); }

  /// Reports `ready` when it is made, or cannot be. Errc::config, Errc::io: it cannot be, and
  /// nothing is reported.
  Result<Done> open();
  /// Every process in it has ended when this returns; nothing is reported any more.
  void kill();
  bool is_several() const { return !settings_.several.hosts.empty(); }

  /// Errc::lost if it has died, Errc::config for a command that is too long, Errc::io.
  Result<Done> send(Order order);
  /// Of the job; nothing while it is not open.
  JobMemory memory() const;

  /// What an image of the job holds at least; 0 where that is not known.
  std::uint64_t image_bytes() const;

  /// It is killed then, even if this process stands still. Of several hosts agents see to that.
  void guard_until(Time end);

 private:
  Workplace(net::Poller& poller, JobDirectory& directory, const JobFile& job,
            WorkplaceSettings settings, OnReport on_report, OnDied on_died, Guard guard);
  void hear_capsule();

  net::Poller& poller_;
  JobDirectory& directory_;
  const JobFile& job_;
  const WorkplaceSettings settings_;
  const OnReport on_report_;
  const OnDied on_died_;
  Guard guard_;
  Time guarded_until_{};
  /// One of both while it is open.
  std::optional<Capsule> capsule_;
  std::unique_ptr<Hosts> hosts_;
};

}  // namespace piracema::ckpt
