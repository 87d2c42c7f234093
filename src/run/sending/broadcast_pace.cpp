#include "run/sending/broadcast_pace.h"

#include <algorithm>

namespace piracema::runtime {

void BroadcastPace::sent(std::uint64_t number, Time now) {
  on_the_way_.push_back({number, now, done_by_.size(), on_the_way_.size()});
}

void BroadcastPace::done(std::size_t receiver, std::uint32_t batches, Time now) {
  // A peer may claim more than it ever got.
  for (; batches > 0; --batches) {
    const std::uint64_t at = done_by_[receiver] - left_behind_;
    if (at >= on_the_way_.size()) return;
    done_by_[receiver] += 1;
    on_the_way_[at].receivers_left -= 1;
    if (on_the_way_.front().receivers_left != 0) continue;
    const Sent batch = on_the_way_.front();
    on_the_way_.pop_front();
    left_behind_ += 1;
    all_done(batch, now);
  }
}

void BroadcastPace::all_done(const Sent& batch, Time now) {
  if (batch.at <= last_done_ && now > last_done_) {
    const Time gap = now - last_done_;
    gap_ = gap_ == Time{} ? gap : (3 * gap_ + gap) / 4;
  }
  last_done_ = now;
  const Time took = now - batch.at;
  const std::size_t few = looking_ ? allowed_ : least;
  if (batch.before < few && (looking_ || way_ == Time{} || took <= way_)) {
    way_ = took;
    looking_ = false;
    looked_ = now;
  }
  if (gap_ == Time{} || way_ == Time{}) return;
  const auto fill = static_cast<std::size_t>((way_ + spare) / gap_) + 1;
  if (looking_) return;
  looking_ = fill < most && now - looked_ >= std::max(looks_every, ways_between_looks * way_);
  allowed_ = std::max(looking_ ? fill / 2 : fill, least);
}

}  // namespace piracema::runtime
