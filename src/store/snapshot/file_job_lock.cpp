#include "store/snapshot/file_job_lock.h"

#include "store/disk/file_lock.h"

namespace piracema::store {

Result<std::shared_ptr<JobLock>> FileJobLock::take(const std::string& path) {
  auto locked = lock_file(path, "job");
  if (!locked) return locked.error();
  return of(*std::move(locked));
}

}  // namespace piracema::store
