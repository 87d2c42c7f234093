#include "topology/measure/transfer.h"

namespace piracema::coll {

namespace {
constexpr unsigned segments_least = 4;
double in_s(Time time) { return std::chrono::duration<double>(time).count(); }
}  // namespace

void Transfer::on_segment(Time sent_at, Time came_at, std::uint64_t bytes) {
  if (segments_ == 0) {
    first_sent_ = sent_at;
    first_came_ = came_at;
  } else {
    // Between the first and the last there are the bytes of all but the first.
    bytes_ += bytes;
  }
  last_sent_ = sent_at;
  last_came_ = came_at;
  segments_ += 1;
}

std::optional<double> Transfer::megabyte() const {
  if (segments_ < segments_least || bytes_ == 0) return std::nullopt;
  const double sending = in_s(last_sent_ - first_sent_), coming = in_s(last_came_ - first_came_);
  if (coming <= 0 || coming < 1.25 * sending) return std::nullopt;
  return coming / static_cast<double>(bytes_) * 1e6;
}

}  // namespace piracema::coll
