#include "smr/order/leader/leader_rate.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::smr {

namespace {

/// Less says nothing about a rate, unless there is no more for so many periods.
constexpr std::uint64_t enough = 16;
constexpr int periods_max = 4;
/// Of the best rate of another leader.
constexpr double wanted_part = 0.75;

double seconds_of(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

LeaderRate::LeaderRate(const Settings& settings)
    : period_(2 * Time(settings.request_timeout)), gap_(Time(settings.resend_interval) * 3 / 4) {}

void LeaderRate::begin(Time now, ReplicaId leader) {
  leader_ = leader;
  last_ = now;
  restart(now);
}

void LeaderRate::restart(Time now) {
  began_ = now;
  end_ = now + period_;
  busy_ = stuck_ = Time{};
  count_ = 0;
  forwarded_ = false;
}

// What passed since the last decision belongs to this period.
void LeaderRate::pass(Time now) {
  const Time since = now - last_;
  last_ = now;
  if (idle_) return;
  busy_ += since;
  if (since >= gap_) stuck_ += since;
}

void LeaderRate::decided(Time now, std::size_t requests, bool some_wait) {
  pass(now);
  count_ += requests;
  idle_ = !some_wait;
}

void LeaderRate::waiting(Time now, bool some_wait) {
  if (some_wait != idle_) return;
  pass(now);
  idle_ = !some_wait;
}

std::optional<double> LeaderRate::rate_of(ReplicaId leader) const {
  const auto found = rates_.find(leader);
  if (found == rates_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> LeaderRate::check(Time now, const std::vector<ReplicaId>& others) {
  if (now < end_) return std::nullopt;
  if (count_ < enough && now < began_ + periods_max * period_) {
    end_ = now + period_;
    return std::nullopt;
  }
  pass(now);
  const bool is_judged = busy_ * 2 >= now - began_;
  const bool is_slow = forwarded_ || stuck_ * 2 >= busy_;
  const double rate = busy_ > Time{} ? static_cast<double>(count_) / seconds_of(busy_) : 0;
  restart(now);
  if (!is_judged) return std::nullopt;
  rates_[leader_] = rate;
  if (!is_slow) return std::nullopt;
  double best = 0;
  for (const ReplicaId other : others) {
    const auto known = rate_of(other);
    if (!known) {
      return concat("leader ", leader_, " orders ", static_cast<std::uint64_t>(rate),
                    " requests a second while others wait, and no other one was tried");
    }
    best = std::max(best, *known);
  }
  if (rate >= wanted_part * best) return std::nullopt;
  return concat("leader ", leader_, " orders ", static_cast<std::uint64_t>(rate),
                " requests a second while others wait, another one ordered ",
                static_cast<std::uint64_t>(best));
}

}  // namespace piracema::smr
