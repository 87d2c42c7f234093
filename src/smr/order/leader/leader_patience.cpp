#include "smr/order/leader/leader_patience.h"

#include <algorithm>

namespace piracema::smr {

Time LeaderPatience::patient(milliseconds time) const {
  return Time(time) * (std::int64_t{1} << std::min(failures_, 6u));
}

void LeaderPatience::start(Time now) { heard_ = began_ = worked_until_ = progress_ = now; }

// For as long as a leader is waited for, since its regency began.
bool LeaderPatience::has_worked(const Left& left) const {
  return left.synced && worked_until_ >= began_ + Time(settings_.silence_timeout);
}

// Whether this replica would soon have asked for another leader itself, for lack of patience: not
// if the leader's connection ended, or if the others went on while this one was away.
bool LeaderPatience::has_waited_long(Time now, const Left& left) const {
  if (!left.synced) return now + Time(settings_.sync_timeout) / 2 >= sync_by_;
  const bool silent = left.followed && now >= heard_ + Time(settings_.silence_timeout) / 2;
  return silent || (left.some_wait && now >= progress_ + Time(settings_.request_timeout) / 2);
}

void LeaderPatience::enter(Time now, const Left& left) {
  const bool was_good = has_worked(left);
  if (was_good) {
    failures_ = 0;
  } else if (has_waited_long(now, left)) {
    failures_ += 1;
  }
  sync_by_ = now + patient(settings_.sync_timeout) / (failures_ == 0 ? 1 : 2);
}

void LeaderPatience::begin(Time now) {
  heard_ = progress_ = now;
  // It may have to fetch what it missed: as long as after one change in vain, at least.
  ready_by_ = now + std::max(patient(settings_.sync_timeout), 2 * Time(settings_.sync_timeout));
}

void LeaderPatience::begin_work(Time now) { since_ = began_ = worked_until_ = now; }

void LeaderPatience::begin_view(Time now) {
  failures_ = 0;
  heard_ = began_ = worked_until_ = now;
}

void LeaderPatience::hear(Time now, bool idle) {
  heard_ = now;
  forgiven_ = 0;
  // Where nobody wants anything it does all that there is to be done.
  if (idle) works(now);
}

void LeaderPatience::decided(Time now, bool by_leader) {
  if (by_leader) {
    forgiven_ = 0;
    works(now);
  }
  progress_ = now;
}

// The leader does its work. Some time of that ends patience, and no single decision does: that is
// no proof that the wait was worth it.
void LeaderPatience::works(Time now) {
  worked_until_ = now;
  if (failures_ == 0 || now < since_ + Time(settings_.silence_timeout)) return;
  failures_ -= 1;
  since_ = now;
}

bool LeaderPatience::forgive(Time now, Time late) {
  if (forgiven_ == 2) return false;
  forgiven_ += 1;
  // And then there is some time to hear of it.
  const Time grace = Time(settings_.silence_timeout) / 2;
  const Time silence = patient(settings_.silence_timeout);
  heard_ = std::max(heard_ + late, now + std::min(grace, silence / 2) - silence);
  progress_ += late;
  sync_by_ = std::max(sync_by_ + late, now + grace);
  ready_by_ = std::max(ready_by_ + late, now + grace);
  return true;
}

}  // namespace piracema::smr
