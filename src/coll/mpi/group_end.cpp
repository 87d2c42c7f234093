// The end of a group: who has left, and what is still under way to this rank.
#include "coll/mpi/group.h"

namespace piracema::coll::mpi {

void Group::leave() {
  const auto tell = [&](Rank to) { exchange_.send_bytes(to, tag(0, Kind::ended), {}, under_way_); };
  if (me_ != 0) {
    tell(0);
    return;
  }
  for (Rank rank = 1; rank < size(); ++rank) tell(rank);
}

bool Group::has_left(Rank rank) {
  Exchange::Arrived arrived;
  if (!left_[rank]) left_[rank] = exchange_.poll_bytes(rank, tag(0, Kind::ended), arrived);
  return left_[rank];
}

bool Group::all_have_left() {
  if (me_ != 0) return has_left(0);
  bool all = true;
  for (Rank rank = 1; rank < size(); ++rank) all = has_left(rank) && all;
  return all;
}

void Group::drain(Time until, bool at_the_end) {
  if (!began_ && !at_the_end) return;
  // What strays now harms nobody.
  exchange_.begin_operation(operation_, false);
  Patience patience = exchange_.patience();
  // Everybody tells of each window that it has begun, but the first.
  const auto all_heard = [&] { return heard_ >= std::uint64_t{window_} * (size() - 1); };
  bool through = false;
  while (!through && now() < until) {
    if (!began_) {
      through = under_way_.test();
    } else if (me_ == 0) {
      while (hear_one()) {
      }
      through = all_heard() && plans_->all_sent() && under_way_.test();
    } else {
      through = plans_->all_came_up_to(window_ + 1) && under_way_.test();
    }
    if (at_the_end) through = all_have_left() && through;
    if (!through) patience.wait();
  }
}

}  // namespace piracema::coll::mpi
