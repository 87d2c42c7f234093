#include <piracema/sequence.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace piracema {

void Sequence::start(const Context& context) {
  if (last_ >= first_) {
    const std::uint64_t all =
        static_cast<std::uint64_t>(last_) - static_cast<std::uint64_t>(first_) + 1;
    if (all == 0) throw std::runtime_error("a sequence of 2^64 numbers: want at most 2^64 - 1");
    const std::uint64_t share = all / context.replicas;
    const std::uint64_t rest = all % context.replicas;
    const std::uint64_t before =
        share * context.replica + std::min<std::uint64_t>(context.replica, rest);
    begin_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + before);
    count_ = share + (context.replica < rest ? 1 : 0);
  }
  if (done_ > count_) {
    throw std::runtime_error(concat("a sequence's saved position: want at most ", count_,
                                    ", found ", done_, ": the snapshot is not of this job"));
  }
}

}  // namespace piracema
