#include "control/detector/failure_detector.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace piracema::cluster {

namespace {

// So long is one item's work without anybody being told.
constexpr std::chrono::seconds tell_busy_after{10};
// Waits double with every recovery that fails, up to this many times.
constexpr std::uint32_t doublings_max = 6;
// A step that comes later than this shows that it is the coordinator that did not run.
constexpr milliseconds lateness_max{300};

}  // namespace

FailureDetector::FailureDetector(const JobSettings& settings)
    : settings_(settings), busy_(2 * settings.heartbeat_interval, tell_busy_after) {
  grow(settings.slots);
}

void FailureDetector::grow(std::size_t slots) {
  processes_.resize(slots);
  deadlines_.resize(slots);
  ready_by_.resize(slots);
}

void FailureDetector::expect(Slot slot, Expected what, Time by) {
  processes_[slot].expected = what;
  processes_[slot].forgiven = false;
  if (settings_.can_spawn) deadlines_.set(slot, by);  // Else nothing could be done about it.
}

void FailureDetector::started(Slot slot, Time now) {
  forget(slot);
  expect(slot, Expected::to_join, now + settings_.join_timeout);
}

void FailureDetector::detached(Slot slot, Time now) {
  forget(slot);
  expect(slot, Expected::to_attach, now + settings_.attach_timeout);
}

void FailureDetector::heard(Slot slot, Time now) {
  expect(slot, Expected::to_beat, now + settings_.heartbeat_timeout);
}

void FailureDetector::deployed(Slot slot, Time now, std::uint32_t fruitless) {
  fruitless_ = fruitless;
  Process& process = processes_[slot];
  process.busy = true;
  process.progressed_at = now;
  if (settings_.can_spawn) ready_by_.set(slot, now + time_to_restore(!process.fresh));
}

// Loading is not hanging: who gets on has all of its time again.
void FailureDetector::restores(Slot slot, Time now, std::uint64_t progress, bool busy) {
  Process& process = processes_[slot];
  if (!ready_by_.of(slot)) return;
  process.busy = busy;
  if (std::exchange(process.progress, progress) != progress) process.progressed_at = now;
  ready_by_.set(slot, process.progressed_at + time_to_restore(busy));
}

void FailureDetector::ready(Slot slot) {
  processes_[slot].fresh = false;
  ready_by_.set(slot, std::nullopt);
}

void FailureDetector::forget(Slot slot) {
  processes_[slot] = {};
  deadlines_.set(slot, std::nullopt);
  ready_by_.set(slot, std::nullopt);
}

std::optional<FailureDetector::Proposal> FailureDetector::expired(Slot slot, Time now,
                                                                  bool restoring) {
  const auto deadline = deadlines_.of(slot), ready_by = ready_by_.of(slot);
  if (deadline && now >= *deadline) {
    switch (processes_[slot].expected) {
      case Expected::nothing:
        return std::nullopt;
      case Expected::to_join:
        return Proposal{concat("it did not join within ", settings_.join_timeout.count(), " ms"),
                        LossCause::not_joined};
      case Expected::to_attach:
        return Proposal{concat("it did not come back within ", settings_.attach_timeout.count(),
                               " ms to a new coordinator"),
                        LossCause::not_joined};
      case Expected::to_beat:
        return Proposal{silence(), LossCause::silent};
    }
  }
  if (!restoring || !ready_by || now < *ready_by) return std::nullopt;
  return expired_restore(slot, now);
}

// A worker is not ready before all its peers are connected, so one that has frozen keeps the
// others from it. While anybody is strangely silent, it is for the heartbeats to tell who.
std::optional<FailureDetector::Proposal> FailureDetector::expired_restore(Slot slot, Time now) {
  const Time silent = settings_.heartbeat_timeout - 2 * settings_.heartbeat_interval;
  const auto first = deadlines_.first();
  if (first && *first - now < silent) {
    ready_by_.set(slot, now + settings_.heartbeat_interval);
    return std::nullopt;
  }
  const Process& process = processes_[slot];
  const bool busy = process.busy && !process.fresh;
  const auto limit = std::chrono::duration_cast<milliseconds>(time_to_restore(busy)).count();
  return Proposal{busy
                      ? concat("an operator did not return within ", limit, " ms to load its state")
                      : concat("it did not get on with loading its state for ", limit, " ms"),
                  LossCause::stuck};
}

// An operator has less time to return from what it is at than a state to get on.
Time FailureDetector::time_to_restore(bool busy) const {
  const std::uint32_t doublings = std::min(fruitless_ == 0 ? 0 : fruitless_ - 1, doublings_max);
  return (busy ? settings_.rollback_timeout : settings_.join_timeout) * (1u << doublings);
}

std::optional<Time> FailureDetector::next_deadline(bool restoring) const {
  const auto first = deadlines_.first(), ready = ready_by_.first();
  if (!restoring || !ready) return first;
  return first ? std::min(*first, *ready) : ready;
}

void FailureDetector::forgive(Time now, std::optional<Time> deadline) {
  if (!deadline || now - *deadline <= lateness_max) return;
  const Time lateness = now - *deadline + settings_.heartbeat_interval;
  const auto later = [lateness](Deadlines& times, Slot slot) {
    if (const auto time = times.of(slot)) times.set(slot, *time + lateness);
  };
  for (Slot slot = 0; slot < processes_.size(); ++slot) {
    Process& process = processes_[slot];
    if (process.forgiven || process.expected == Expected::nothing) continue;
    process.forgiven = true;
    later(deadlines_, slot);
    later(ready_by_, slot);
    process.progressed_at += lateness;
  }
}

std::string FailureDetector::silence() const {
  return concat("no heartbeat for ", settings_.heartbeat_timeout.count(), " ms");
}

}  // namespace piracema::cluster
