#include "run/replica/operator_guard.h"

#include <utility>

namespace piracema::runtime {

OperatorGuard::OperatorGuard(Port& port, Counters& counters, std::atomic<std::uint64_t>* at_work)
    : port_(port), counters_(counters), at_work_(at_work != nullptr ? *at_work : own_at_work_) {
  no_item();
}

void OperatorGuard::fail(std::string why) {
  const std::uint64_t item = at_work_.load(std::memory_order_relaxed);
  failed_ = true;
  port_.failed(item == none ? std::nullopt : std::optional(item), std::move(why));
}

}  // namespace piracema::runtime
