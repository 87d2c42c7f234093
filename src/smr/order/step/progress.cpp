#include "smr/order/step/progress.h"

#include "base/ensure.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr {

void Progress::hand_out(const Digest& batch) {
  decided_ += 1;
  history_ = digest_of(history_, batch);
}

void Progress::executed(Instance instance, std::optional<std::uint64_t> timer) {
  ENSURE(instance <= decided_);
  if (instance < executed_) return;
  executed_ = instance;
  timer_ = timer;
}

void Progress::jump_to(Instance instance, const Digest& history) {
  decided_ = executed_ = instance;
  history_ = history;
}

}  // namespace piracema::smr
