#include "cluster/smr/linear/service.h"

#include <algorithm>

namespace piracema::testing {

void Service::answered(Time call) {
  const std::lock_guard lock(mutex_);
  const Time at = now();
  if (answers_ != 0) gap_.without_answer = std::max(gap_.without_answer, at - last_);
  gap_.slowest_answer = std::max(gap_.slowest_answer, at - call);
  last_ = at;
  answers_ += 1;
  progress_.notify_all();
}

void Service::begin() {
  const std::lock_guard lock(mutex_);
  gap_ = {};
}

Service::Gap Service::end() {
  const std::lock_guard lock(mutex_);
  gap_.without_answer = std::max(gap_.without_answer, now() - last_);
  return gap_;
}

std::uint64_t Service::answers() const {
  const std::lock_guard lock(mutex_);
  return answers_;
}

bool Service::wait_for(std::uint64_t more, Time patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = answers_ + more;
  return progress_.wait_for(lock, patience, [&] { return answers_ >= wanted; });
}

}  // namespace piracema::testing
