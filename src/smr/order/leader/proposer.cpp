#include "smr/order/leader/proposer.h"

#include <algorithm>
#include <utility>

#include "smr/order/messages/batch.h"

namespace piracema::smr {

Proposer::Proposer(const Settings& settings, Step& step, const Membership& members,
                   const Leadership& leadership, const Progress& progress, Instances& instances,
                   AgreedClock& clock, RequestPool& pool)
    : settings_(settings),
      step_(step),
      members_(members),
      leadership_(leadership),
      progress_(progress),
      instances_(instances),
      clock_(clock),
      pool_(pool) {}

// ---- the regency ---------------------------------------------------------------------------

void Proposer::unbind() {
  bound_.clear();
  fetching_ = std::nullopt;
}

void Proposer::bind(std::map<Instance, Digest> values, Instance base) {
  bound_ = std::move(values);
  base_ = base;
}

void Proposer::begin(Instance top) {
  suspect_clients();
  pool_.start_again(step_.now());
  for (const auto& [instance, digest] : bound_) {
    const Consensus* one = instances_.find(instance);
    if (BatchPtr batch = one ? one->find(digest) : nullptr) reserve(batch);
  }
  fill_until_ = top;
  ticked_at_ = 0;
  // What is below is in a stable checkpoint: too few are left to vote on it, and they fetch it.
  next_ = std::max(base_ + 1, instances_.first());
}

void Proposer::begin_view() {
  unbind();
  fill_until_ = base_ = 0;
  next_ = progress_.decided() + 1;
}

void Proposer::jumped() { next_ = std::max(next_, progress_.decided() + 1); }

const Digest* Proposer::bound_at(Instance instance) const {
  const auto value = bound_.find(instance);
  return value == bound_.end() ? nullptr : &value->second;
}

// The batch is proposed again: nothing of it twice, and no time before its.
void Proposer::reserve(const BatchPtr& batch) {
  pool_.proposed(batch);
  clock_.advance(step_.now(), batch->time);
}

// Perhaps a proposal was dropped because too few could verify its requests, and perhaps only
// because its leader failed. The pool tells by how often that happens to a client.
void Proposer::suspect_clients() {
  if (!members_.byzantine()) return;
  for (Instance i = std::max(instances_.first(), progress_.decided() + 1); i < instances_.end();
       ++i) {
    Consensus& one = *instances_.find(i);
    if (one.decided || bound_at(i) || i <= base_) continue;
    BatchPtr batch = one.held_in < leadership_.regency() ? one.held : nullptr;
    if (!batch && one.taken) batch = one.find(one.taken->digest);
    if (!batch) continue;
    for (const Request& request : batch->requests) {
      pool_.suspect(request.client, members_.view().one_correct());
    }
  }
}

// ---- the leader ----------------------------------------------------------------------------

bool Proposer::can_propose(Instance highest) const {
  if (!leadership_.leads() || progress_.decided() - progress_.executed() >= settings_.backlog) {
    return false;
  }
  if (next_ > std::max(progress_.decided(), base_) + settings_.window) return false;
  if (is_behind() || next_ > highest) return false;
  // Asked for in batch_for; the answer makes it possible.
  if (fetching_ == next_) return false;
  if (bound_.contains(next_) || next_ <= progress_.decided()) return true;
  return pool_.has_waiting() || next_ <= fill_until_ || has_to_tick();
}

bool Proposer::is_behind() const { return next_ > progress_.decided() + view_delay; }

BatchPtr Proposer::propose() {
  if (next_ == 1) clock_.propose_first(step_.now());
  BatchPtr batch = batch_for(next_);
  if (!batch) return nullptr;
  beat_at_ = step_.now() + settings_.heartbeat_interval;
  // A proposal promises nothing: a leader that restarts does not lead its old regency. But that
  // it has entered this one has to be durable, or it would not know that it led.
  step_.send_others(message(Propose{next_, leadership_.regency(), batch}),
                    !leadership_.entry_durable());
  next_ += 1;
  return batch;
}

// What is bound there, or decided without others knowing it, or else what waits.
BatchPtr Proposer::batch_for(Instance instance) {
  const Consensus* consensus = instances_.find(instance);
  std::optional<Digest> settled = consensus ? consensus->decided : std::nullopt;
  if (const Digest* value = bound_at(instance)) settled = *value;
  if (!settled) {
    const std::uint64_t time = clock_.time(step_.now());
    if (!has_to_tick() && pool_.has_waiting()) return pool_.propose(time);
    ticked_at_ = instance;
    return make_batch(time, {});
  }
  if (BatchPtr batch = consensus ? consensus->find(*settled) : nullptr) return batch;
  fetching_ = instance;
  step_.send_others(message(FetchBatch{instance, *settled}));
  return nullptr;
}

void Proposer::fetched(Instance instance, const BatchPtr& batch) {
  if (bound_at(instance)) reserve(batch);
  if (fetching_ == instance) fetching_ = std::nullopt;
}

void Proposer::beat() {
  if (step_.now() < beat_at_) return;
  beat_at_ = step_.now() + settings_.heartbeat_interval;
  step_.send_others(
      message(Heartbeat{members_.view().id, leadership_.regency(), progress_.decided()}));
}

// A batch without requests is a tick. The next one only when the service has seen that: it tells
// then whether it wants another.
bool Proposer::has_to_tick() const {
  return progress_.timer() && clock_.time(step_.now()) >= *progress_.timer() &&
         progress_.executed() >= ticked_at_;
}

std::optional<Time> Proposer::timer_at() const {
  if (!progress_.timer()) return std::nullopt;
  return clock_.when(step_.now(), *progress_.timer());
}

std::optional<Time> Proposer::next_deadline() const {
  if (!leadership_.leads()) return std::nullopt;
  const auto at = may_tick() ? timer_at() : std::nullopt;
  return at && *at > step_.now() ? std::min(*at, beat_at_) : beat_at_;
}

}  // namespace piracema::smr
