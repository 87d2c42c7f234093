#include "cluster/driver/past_news.h"

#include <chrono>
#include <utility>

#include "observe/status/job_past.h"

namespace piracema::cluster {

namespace {
constexpr std::chrono::seconds tell_every{1};
}  // namespace

std::optional<PastOfJob> PastNews::next(Time now) {
  if (now - told_at_ < tell_every) return std::nullopt;
  auto latest = board_.latest();
  if (latest == told_ || latest->nodes.empty()) return std::nullopt;
  told_ = std::move(latest);
  told_at_ = now;
  return PastOfJob{observe::JobPast::told(*told_)};
}

}  // namespace piracema::cluster
