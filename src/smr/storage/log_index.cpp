#include "smr/storage/log_index.h"

#include <algorithm>

namespace piracema::smr {

void LogIndex::note(store::LogSequence sequence, const LogRecord& record) {
  next_ = sequence + 1;
  const Instance place = instance_of(record);
  if (place != 0 && place != never_truncated) {
    places_.emplace_back(sequence, place);
    return;
  }
  const auto* view = std::get_if<ViewSigned>(&record);
  kept_[{record.index(), view != nullptr ? view->view.view.id : 0}] = {sequence, record};
}

// Records are in no order of places, so the log can go only up to the first one that is needed:
// that is near its end, since few are about places ahead.
LogIndex::Truncation LogIndex::truncate(Instance instance) {
  while (!places_.empty() && places_.front().second <= instance) places_.pop_front();
  Truncation truncation;
  truncation.floor = places_.empty() ? next_ : places_.front().first;
  for (const auto& [kind, kept] : kept_) {
    if (kept.sequence < truncation.floor) truncation.again.push_back(kept.record);
  }
  return truncation;
}

}  // namespace piracema::smr
