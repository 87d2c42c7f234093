#pragma once

#include <piracema/error.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "store/snapshot/snapshot_store.h"

namespace piracema::store {

/// While it lives its store is one job's.
class JobLock {
 public:
  virtual ~JobLock() = default;
  /// `lost` is called, on a thread of the lock's, if another job has the store all the same: this
  /// one has to end. Call it once. Never happens with a lock that the kernel keeps.
  virtual void when_lost(std::function<void(const Error&)> lost) = 0;
  /// Whoever destroys this one does not give the store back: other processes of its job have it.
  virtual void leave_to_others() {}
  /// The locked file, where there is one: it may be shared with other processes of the job.
  virtual Fd* file() { return nullptr; }
};

/// For whom a store is locked.
struct JobClaim {
  /// Several processes of one job have the same name, like no other job's: each may lock the store
  /// while others of them have it. Empty: there is one. What is locked by the kernel does not ask.
  std::string job;
  /// What the job has started goes on for so long when all of them are gone.
  std::chrono::milliseconds keeps{0};
};

/// A store of snapshots that has a name, and that one job at a time has for itself.
class JobStore : public SnapshotStore {
 public:
  /// As every process of the job may open it: an absolute path, or an address.
  virtual const std::string& name() const = 0;
  /// Where files lie beside the snapshots that are read and written as files; null: there is no
  /// such place.
  virtual const std::string* directory() const { return nullptr; }
  /// No other `lock` succeeds, here or in another process, but for a claim of the same job, until
  /// what is returned is gone or its process has ended. Errc::refused says who has it. Who gets it
  /// after a process that was killed may have to wait for some seconds.
  virtual Result<std::shared_ptr<JobLock>> lock(const JobClaim& claim) = 0;
  Result<std::shared_ptr<JobLock>> lock() { return lock(JobClaim{}); }
};

}  // namespace piracema::store
