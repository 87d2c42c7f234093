#include "forecast/store/sampling.h"

#include <algorithm>

namespace piracema::ckpt {

namespace {

// Of a window, that its job should have.
constexpr double aim = 0.9;
// In the second half there may be no time left to wait for a slow one before the dump.
constexpr double first_part = 0.5;

Time time_of(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

}  // namespace

double Sampling::bytes_of(const Now& now) const {
  return std::min(settings_.bytes_most, settings_.share * now.job_bytes);
}

bool Sampling::may_follow(const Now& now) const {
  const double left = std::chrono::duration<double>(now.closes - now.time).count();
  // What a sample leaves in the page cache is in the way of a dump that follows at once: it is to
  // be written by then, at the rate that the dump is given.
  const bool unknown = now.learnt < settings_.known_from && begun_count_ < settings_.least;
  return !refused_ && begun_count_ < settings_.most && (unknown || now.plan.used < aim) &&
         left > first_part * now.length &&
         now.plan.start_in > settings_.share * now.plan.duration &&
         bytes_of(now) >= std::max(settings_.bytes_least, now.waiting_bytes);
}

std::optional<double> Sampling::step(const Now& now) {
  if (now.closes > closes_) {
    begun_count_ = 0;
    refused_ = false;
  }
  closes_ = now.closes;
  if (under_way_ && !now.under_way) {
    next_ = now.time + std::max(time_of(settings_.pause), settings_.pauses * (now.time - begun_));
    refused_ = now.refused;
  }
  under_way_ = now.under_way;
  const bool may = may_follow(now);
  wanted_ = under_way_ || may;
  if (under_way_ || !may || now.time < next_) return std::nullopt;
  begun_count_ += 1;
  begun_ = now.time;
  under_way_ = true;
  return bytes_of(now);
}

}  // namespace piracema::ckpt
