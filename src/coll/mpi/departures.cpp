#include "coll/mpi/departures.h"

namespace piracema::coll::mpi {

void Departures::leave() {
  const auto tell = [&](Rank to) { exchange_.send_bytes(to, tag(0, Kind::ended), {}, under_way_); };
  if (exchange_.me() != 0) {
    tell(0);
    return;
  }
  for (Rank rank = 1; rank < exchange_.size(); ++rank) tell(rank);
}

bool Departures::has_left(Rank rank) {
  Exchange::Arrived arrived;
  if (!left_[rank]) left_[rank] = exchange_.poll_bytes(rank, tag(0, Kind::ended), arrived);
  return left_[rank];
}

bool Departures::all_have_left() {
  if (exchange_.me() != 0) return has_left(0);
  bool all = true;
  for (Rank rank = 1; rank < exchange_.size(); ++rank) all = has_left(rank) && all;
  return all;
}

}  // namespace piracema::coll::mpi
