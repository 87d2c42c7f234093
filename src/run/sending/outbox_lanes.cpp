// Items collect in lanes; when a lane becomes a batch.
#include <algorithm>
#include <utility>

#include "run/sending/outbox.h"

namespace piracema::runtime {

namespace {
// The clock is looked at after the first item of a source and after each eighth more, but not
// seldomer than after so many: one that has been fast and becomes slow, be it in the middle of a
// call, keeps neither its items nor a barrier back for long.
constexpr std::int64_t items_a_look_max = 256;

// So that an operator which makes many items of one batch gets to an overdue barrier.
constexpr std::uint64_t bytes_in_a_hurry_max = std::uint64_t{16} << 20;
}  // namespace

void Outbox::begin_produce(std::int64_t items, Time until) {
  budget_ = std::min<std::int64_t>(items, 1);
  budget_later_ = items - budget_;
  looked_after_ = budget_;
  produce_until_ = until;
}

bool Outbox::refill() {
  if (budget_later_ <= 0 || port_.now() >= produce_until_) return false;
  const std::int64_t look = std::clamp<std::int64_t>(looked_after_ / 8, 1, items_a_look_max);
  const std::int64_t more = std::min(budget_later_, look);
  looked_after_ += more;
  budget_ += more;
  budget_later_ -= more;
  return true;
}

void Outbox::lane_full(std::size_t lane) {
  const std::uint32_t output = receivers_[lane].output;
  if (exits_[output].order) {
    close_ordered();
  } else {
    close_lane(output, lane, {});
  }
  pump();
  budget_ = 0;
  budget_later_ = 0;
  // A source returns instead, so that it can be asked for a barrier meanwhile; one that does not
  // return waits here like the others.
  const std::uint64_t slack = plan_.inputs.empty() ? lanes_.size() : 0;
  if (is_over(slack)) wait_for_room(slack);
}

void Outbox::wait_for_room(std::uint64_t slack) {
  const Time start = port_.now();
  Time now = start;
  while (is_over(slack)) {
    const bool hurries = hurry_ && bytes_waiting_ < bytes_in_a_hurry_max;
    if (hurries && now >= *hurry_) break;
    if (!port_.wait(hurries ? std::optional(*hurry_ - now) : std::nullopt)) break;
    pump();
    now = port_.now();
  }
  waited_ += now - start;
}

void Outbox::close_lane(std::uint32_t output, std::size_t lane, const Order& order) {
  Batch batch = std::exchange(lanes_[lane], {});
  batch.order = order;
  items_sent_ += batch.count;
  bytes_sent_ += batch.data.size();
  // The next batch of the lane will be about as large. A single item of a known size takes its
  // memory at once, or brings it.
  if (batch.count != 1 || batch.item_bytes == 0) {
    lanes_[lane].data.reserve(std::min(batch.data.size(), std::size_t{1} << 20));
  }
  Exit& exit = exits_[output];
  if (exit.ended) {
    emitted_after_end_ = true;
    return;
  }
  bytes_waiting_ += batch.data.size();
  exit.waiting.push_back({lane, std::move(batch)});
  exit.waiting_batches += 1;
}

void Outbox::close_output(std::uint32_t output) {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) close_lane(output, lane, {});
  }
}

void Outbox::flush() {
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!is_open(output)) continue;
    if (exits_[output].order) {
      ordered = true;
    } else {
      close_output(output);
    }
  }
  if (ordered) close_ordered();
  pump();
}

void Outbox::flush_if_asked(std::optional<Time> now) {
  if (must_wait()) return;
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    Exit& exit = exits_[output];
    if (now && *now - exit.flushed < exit.linger) continue;
    if (now) exit.flushed = *now;
    if (!exit.waiting.empty() || !is_open(output)) continue;
    const Way& way = ways_[output];
    const auto first = receivers_.begin() + static_cast<std::ptrdiff_t>(way.first_lane);
    const bool asked = std::any_of(first, first + static_cast<std::ptrdiff_t>(way.receivers),
                                   [](const Receiver& r) { return r.credits != 0; });
    if (!asked) continue;
    if (exit.order) {
      ordered = true;
    } else {
      close_output(output);
    }
  }
  if (ordered) close_ordered();
  pump();
}

// After Nagle (RFC 896), with a receiver's work in place of a round trip: an item waits for company
// only while those who could take it are busy anyway.
void Outbox::flush_to_idle() {
  if (must_wait()) return;
  bool ordered = false;
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (!exits_[output].waiting.empty()) continue;
    const Way& way = ways_[output];
    bool some_idle = false;
    for (std::size_t lane = way.first_lane; lane < way.any_lane(); ++lane) {
      if (!receivers_[lane].is_idle()) continue;
      some_idle = true;
      if (lanes_[lane].count != 0 && !exits_[output].order) close_lane(output, lane, {});
    }
    if (!some_idle || !is_open(output)) continue;
    if (exits_[output].order) {
      ordered = true;
    } else if (lanes_[way.any_lane()].count != 0) {
      close_lane(output, way.any_lane(), {});
    }
  }
  if (ordered) close_ordered();
  pump();
}

bool Outbox::is_open(std::uint32_t output) const {
  const Way& way = ways_[output];
  for (std::size_t lane = way.first_lane; lane <= way.any_lane(); ++lane) {
    if (lanes_[lane].count != 0) return true;
  }
  return false;
}

bool Outbox::has_open_lane() const {
  for (std::uint32_t output = 0; output < outputs(); ++output) {
    if (is_open(output)) return true;
  }
  return false;
}

}  // namespace piracema::runtime
