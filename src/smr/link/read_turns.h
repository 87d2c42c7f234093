#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"

namespace piracema::smr {

class Link;

/// Who is read next of all that have something to say and are no members of the group: clients and
/// strangers. Members are read at once, whoever else waits. The others share what time is left:
/// each source, which is a client over all its connections or the address that a stranger comes
/// from, is read once before any of them is read again. Belongs to the poller's thread.
class ReadTurns {
 public:
  /// There is something to read on it; nothing happens if it waits already.
  void add(std::shared_ptr<Link> link);
  /// Reads, turn by turn, until nobody waits or `time` has passed: at least one turn. Who still
  /// waits then is not reported by the poller again until it was read.
  void run(Time time);
  bool empty() const { return order_.empty(); }
  std::size_t waiting() const;

 private:
  std::map<std::string, std::deque<std::shared_ptr<Link>>> waiting_;
  /// Sources with something to be read, the next one first.
  std::deque<std::string> order_;
  /// Added since the last run.
  std::vector<std::shared_ptr<Link>> fresh_;
};

}  // namespace piracema::smr
