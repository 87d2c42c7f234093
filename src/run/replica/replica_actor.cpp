#include "run/replica/replica_actor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/restore_progress.h"

namespace piracema::runtime {

namespace {
// A source that has nothing is asked again after these; one that calls Context::wake is not kept
// waiting by them. Asking is most of what an idle job does.
constexpr Time poll_first = std::chrono::milliseconds(1);
constexpr Time poll_longest = std::chrono::milliseconds(100);
}  // namespace

ReplicaActor::ReplicaActor(ReplicaOwner& owner, Threads& threads)
    : owner_(owner), threads_(threads), poll_(poll_first) {
  threads_.start(*this);
}

ReplicaActor::~ReplicaActor() {
  quit();
  join();
}

void ReplicaActor::join() {
  if (!std::exchange(joined_, true)) threads_.join(*this);
}

void ReplicaActor::begin(Epoch epoch, std::shared_ptr<const ReplicaIdentity> who,
                         ReadState read_state) {
  mailbox_.put(Begin{epoch, std::move(who), std::move(read_state)});
}

Actor::Turn ReplicaActor::turn() {
  in_turn_.store(true, std::memory_order_relaxed);
  const Turn next = take_turn();
  in_turn_.store(false, std::memory_order_relaxed);
  return next;
}

Actor::Turn ReplicaActor::take_turn() {
  read_mail();
  if (quit_) return {Next::ended};
  if (to_begin_) do_begin();
  if (replica_ && !running_ && may_start_ == epoch_) do_start();
  if (!running_) return {Next::rest};
  try {
    return step();
  } catch (const Interrupted&) {
    return {Next::again};  // The reason lies in `to_begin_` or `quit_`.
  }
}

Actor::Turn ReplicaActor::step() {
  switch (replica_->step()) {
    case Replica::Next::again:
      break;
    case Replica::Next::wait:
      flush();
      return {Next::rest, replica_->longest_wait()};
    case Replica::Next::poll: {
      flush();
      const Time longest = std::exchange(poll_, std::min(poll_ * 2, poll_longest));
      return {Next::rest, std::min(longest, replica_->longest_wait().value_or(longest))};
    }
  }
  poll_ = poll_first;
  return {Next::again};
}

void ReplicaActor::read_mail() {
  while (auto letter = mailbox_.take()) open(std::move(*letter));
}

void ReplicaActor::open(Letter letter) {
  if (std::holds_alternative<Quit>(letter)) {
    quit_ = true;
  } else if (auto* begin = std::get_if<Begin>(&letter)) {
    to_begin_ = std::move(*begin);
    running_ = false;
  } else if (const auto* go = std::get_if<Go>(&letter)) {
    may_start_ = std::max(may_start_, go->epoch);
  } else if (auto* parcel = std::get_if<Parcel>(&letter)) {
    if (parcel->epoch > epoch_) {
      early_.push_back(std::move(*parcel));
    } else if (parcel->epoch == epoch_ && replica_) {
      replica_->receive(parcel->from, std::move(parcel->packet));
    }
  } else if (!replica_) {
    // It failed to begin.
  } else if (const auto* trigger = std::get_if<TriggerLetter>(&letter)) {
    if (trigger->epoch == epoch_)
      replica_->trigger(trigger->snapshot, trigger->complete, trigger->hold, trigger->patience);
  } else if (const auto* commit = std::get_if<CommitLetter>(&letter)) {
    if (commit->epoch == epoch_) replica_->commit(commit->snapshot);
  }
}

void ReplicaActor::do_begin() {
  const Begin begin = std::move(*to_begin_);
  to_begin_.reset();
  epoch_ = begin.epoch;
  restores_ = epoch_;
  const RestoreProgress counts(restored_);
  credits_.clear();
  auto kept = replica_ && begin.who ? replica_->keep() : nullptr;
  replica_.reset();
  detail::note_restored(1);  // To forget a large state takes a while, too.
  at_work_.load()->store(Progress::no_item, std::memory_order_relaxed);
  who_ = begin.who;
  at_work_ = who_ && who_->at_work != nullptr ? who_->at_work : &own_at_work_;
  if (!who_) {
    counters_.clear();
    early_.clear();
    return;
  }
  auto beginning = begin.read_state(std::move(kept));
  if (!beginning) {
    owner_.failed(epoch_, self(), std::nullopt, beginning.error().message);
    return;
  }
  replica_ = std::make_unique<Replica>(self(), who_->plan, *who_->graph, *std::move(beginning),
                                       *this, counters_, at_work_.load());
  replica_->begin();
  for (Parcel& parcel : std::exchange(early_, {})) open(std::move(parcel));
  owner_.begun(epoch_, self());
}

void ReplicaActor::do_start() {
  running_ = true;
  replica_->start();
  flush();
}

// Results often follow a credit at once, and to the same process: one message in place of two.
void ReplicaActor::send(ReplicaId to, Packet packet) {
  if (std::holds_alternative<Credit>(packet)) {
    credits_.push_back({to, std::move(packet)});
  } else if (credits_.empty()) {
    owner_.route(epoch_, self(), to, std::move(packet));
  } else {
    credits_.push_back({to, std::move(packet)});
    flush();
  }
}

void ReplicaActor::send_to_all(const ToAll& to, Packet packet) {
  flush();
  owner_.route_to_all(epoch_, self(), to, std::move(packet));
}

void ReplicaActor::flush() {
  if (!credits_.empty()) owner_.route(epoch_, self(), std::exchange(credits_, {}));
}

void ReplicaActor::save(SnapshotId snapshot, std::uint64_t items_out, store::PartContent part) {
  owner_.save(epoch_, self(), snapshot, items_out, std::move(part));
}

void ReplicaActor::save_piece(SnapshotId snapshot, Buffer piece) {
  const std::uint64_t bytes = piece.size();
  unwritten_ += bytes;
  owner_.save_piece(epoch_, self(), snapshot, std::move(piece), [this, bytes] {
    unwritten_ -= bytes;
    parker().wake();
  });
}

void ReplicaActor::failed(std::optional<std::uint64_t> item, std::string why) {
  owner_.failed(epoch_, self(), item, std::move(why));
}

bool ReplicaActor::wait(std::optional<Time> longest) {
  flush();
  counters_.in_or_out();  // It is not the operator that takes its time.
  counters_.wait_for_room(true, now());
  threads_.wait(*this, longest);
  counters_.wait_for_room(false, now());
  counters_.in_or_out();
  read_mail();
  flush();  // The operator goes on, and may take its time.
  if (quit_ || to_begin_) throw Interrupted{};
  return true;
}

}  // namespace piracema::runtime
