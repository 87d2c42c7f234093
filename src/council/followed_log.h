#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "observe/http/pages.h"

namespace piracema::council {

/// Which lines of a log, that is looked at again and again and keeps its last ones alone, are new.
/// Pure.
class NewLines {
 public:
  /// `json` is what /api/v1/log answers; another thing has no lines. Those of another log, as of
  /// another coordinator, are all new.
  std::vector<LoggedLine> of(std::string_view json);

 private:
  std::optional<LoggedLine> last_;
};

/// What whoever leads a job says, said here as well: of a command that has joined the job, to which
/// nothing of that comes by itself. Looks once a second, by a thread of its own; a job that is not
/// shown (--http) says nothing here.
class FollowedLog {
 public:
  /// `pages` outlives it.
  explicit FollowedLog(observe::Pages& pages);
  /// Waits for a look that is under way.
  ~FollowedLog();

 private:
  void run();

  observe::Pages& pages_;
  NewLines lines_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace piracema::council
