#pragma once

#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/driver/crew.h"

namespace piracema::cluster {

/// The first process of a job starts alone, and has so long to join: a program that cannot run says
/// so once, not N times, and one that is no program of ours is noticed. The others wait for it.
class FirstToJoin {
 public:
  /// The first one has to join by then.
  void wait_until(Time by) { by_ = by; }
  bool has_joined() const { return joined_; }
  bool is_late(Time now) const { return !joined_ && now >= by_; }
  /// One has joined, here or while another coordinator had the job. True: it is the first.
  bool join() { return !std::exchange(joined_, true); }

  /// It starts later. Those that wait are given by `take`, once.
  void hold(Crew::Id id) { waiting_.push_back(id); }
  std::vector<Crew::Id> take() { return std::exchange(waiting_, {}); }
  /// It need not start. Whether it waited.
  bool drop(Crew::Id id) { return std::erase(waiting_, id) != 0; }

 private:
  Time by_{};
  bool joined_ = false;
  std::vector<Crew::Id> waiting_;
};

}  // namespace piracema::cluster
