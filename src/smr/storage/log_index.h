#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "smr/order/messages/log_record.h"
#include "store/log/log_format.h"

namespace piracema::smr {

/// Which records of a replica's log are still needed. One thread; pure.
class LogIndex {
 public:
  /// In the order of the log: those that were read when it was opened, then those appended.
  void note(store::LogSequence sequence, const LogRecord& record);

  struct Truncation {
    /// Append these first; when they are durable, and not before, truncate the log to `floor`.
    /// Otherwise a crash in between would lose them.
    std::vector<LogRecord> again;
    store::LogSequence floor = 1;
  };
  /// All that is about places up to here goes (instance_of). What is about no place stays, the last
  /// of each kind, and every signed view. `again` has to be noted when it is appended.
  Truncation truncate(Instance instance);

 private:
  struct Kept {
    store::LogSequence sequence = 0;
    LogRecord record;
  };

  store::LogSequence next_ = 1;
  std::deque<std::pair<store::LogSequence, Instance>> places_;
  /// By kind; signed views by their number as well.
  std::map<std::pair<std::size_t, ViewId>, Kept> kept_;
};

}  // namespace piracema::smr
