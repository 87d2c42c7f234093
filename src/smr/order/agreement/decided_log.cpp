#include "smr/order/agreement/decided_log.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::smr {

void DecidedLog::add(Instance instance, BatchPtr batch) {
  ENSURE(instance == end());
  batches_.push_back(std::move(batch));
}

void DecidedLog::truncate(Instance instance) {
  while (!batches_.empty() && first_ <= instance) {
    batches_.pop_front();
    first_ += 1;
  }
}

void DecidedLog::restart_after(Instance instance) {
  batches_.clear();
  first_ = instance + 1;
}

LogSuffix DecidedLog::suffix(const LogRequest& request) const {
  LogSuffix suffix;
  suffix.from = request.from;
  if (request.from < first_) return suffix;
  std::size_t bytes = 0;
  for (Instance i = request.from; i < end(); ++i) {
    const BatchPtr& batch = batches_[i - first_];
    if (suffix.digests.size() == suffix_digests_max) break;
    if (!request.digests_only) {
      // At least one, so that it goes on.
      bytes += batch->encoded.size() + sizeof(Digest);
      if (bytes > std::min<std::size_t>(request.bytes, suffix_bytes_max) && !suffix.batches.empty())
        break;
      suffix.batches.push_back(batch);
    }
    suffix.digests.push_back(batch->digest);
  }
  return suffix;
}

}  // namespace piracema::smr
