#include "smr/order/leader/leadership.h"

namespace piracema::smr {

void Leadership::enter(Regency regency) {
  regencies_.enter(regency);
  entry_durable_ = false;
  synced_ = false;
}

void Leadership::begin_view() {
  regencies_ = Regencies(members_.view().n(), 0);
  stop_said_ = 0;
  synced_ = true;
  entry_durable_ = false;
}

void Leadership::recover_entered(Regency regency) {
  regencies_.enter(regency);
  // What is bound in it was told by its SYNC, which is not in the log: its leader has it.
  synced_ = regency == 0;
}

void Leadership::recover_stop(Regency regency) {
  stop_said_ = regency;
  regencies_.want(regency);
  if (members_.own()) regencies_.heard(*members_.own(), regency);
}

}  // namespace piracema::smr
