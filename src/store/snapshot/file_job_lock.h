#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/fd.h"
#include "store/snapshot/job_store.h"

namespace piracema::store {

/// A lock that the kernel keeps: every copy of the file by fork keeps it, too, at the latest until
/// the end of its process.
class FileJobLock final : public JobLock {
 public:
  explicit FileJobLock(Fd locked) : file_(std::move(locked)) {}
  /// Of a file that is locked already (store/disk/file_lock.h).
  static std::shared_ptr<JobLock> of(Fd locked) {
    return std::make_shared<FileJobLock>(std::move(locked));
  }
  /// Errc::refused names the process that has it.
  static Result<std::shared_ptr<JobLock>> take(const std::string& path);

  void when_lost(std::function<void(const Error&)>) override {}
  Fd* file() override { return &file_; }

 private:
  Fd file_;
};

}  // namespace piracema::store
