#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace piracema::cluster {

/// Gives the operators of a process some time to return, for their threads cannot be ended: when
/// it has passed before this object goes, the whole process ends.
class Patience {
 public:
  /// `code` is the exit status then. `complaint` is said first, unless it is empty.
  Patience(std::chrono::milliseconds time, int code, std::string complaint);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace piracema::cluster
