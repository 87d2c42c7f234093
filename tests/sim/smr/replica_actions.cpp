// What a core wants done.
#include "sim/smr/liar.h"
#include "sim/smr/mutants.h"
#include "sim/smr/replica.h"
#include "sim/smr/world.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

void Replica::act(Persist& persist) {
  if (!liar_) {
    if (const auto* kept = std::get_if<ProofKept>(&persist.record)) {
      world_.oracle().proven(id_, kept->proof.instance, kept->proof.history);
    } else if (const auto* stable = std::get_if<CheckpointStable>(&persist.record)) {
      const CheckpointInfo& info = stable->proof.checkpoint;
      world_.oracle().proven(id_, info.instance, info.history);
    }
  }
  if (crash_at_ == CrashAt::before_record) return world_.crash(id_);
  if (const auto* known = std::get_if<ViewSigned>(&persist.record)) {
    port_->tell_view(encode(*message(known->view)).head);
  }
  const bool regained = std::holds_alternative<MemoryRegained>(persist.record);
  disk_.append(persist.record);
  if (regained) regained_at_ = disk_.appended();
  if (crash_at_ == CrashAt::after_record) world_.crash(id_);
}

void Replica::act(Send& send) {
  if (send.after_log && disk_.durable() < disk_.appended() && !planted("send_before_sync")) {
    held_.push_back({disk_.appended(), send.to, std::move(send.message)});
  } else {
    send_now(send.to, send.message);
  }
}

void Replica::send_now(ReplicaId to, const MessagePtr& message) {
  if (liar_) {
    liar_->send(to, message);
  } else {
    world_.send(id_, to, message);
  }
}

void Replica::act(Execute& execute) {
  Oracle& oracle = world_.oracle();
  world_.trace("replica ", id_, " executes ", execute.instance, ": ",
               static_cast<unsigned>(execute.batch->digest[0]), " with ",
               execute.batch->requests.size(), " requests");
  if (execute.instance != executed_ + 1 && !liar_) {
    oracle.complain(
        concat("order: replica ", id_, " is to execute ", execute.instance, " after ", executed_));
  }
  executed_ = execute.instance;
  if (!liar_) oracle.decided(id_, execute.instance, *execute.batch);
  seat_->service.execute({&execute, 1});
  if (is_correct()) oracle.reached(id_, execute.instance, seat_->machine->hash());
  after_execution(Executed{execute.instance, seat_->service.timer()},
                  world_.wires().between(Time{}, world_.plan().execution_most));
}

// One thread executes: what it is given later is done later.
void Replica::after_execution(Event event, Time cost) {
  cost *= world_.wires().slowness(id_);
  execution_free_ = std::max(execution_free_, world_.now()) + cost;
  world_.happens(id_, life_, std::move(event), execution_free_);
}

void Replica::act(ReadNow& read) {
  const auto asked = reads_.find(read.token);
  if (asked == reads_.end()) return;
  Reply reply{.result = std::make_shared<const Buffer>(seat_->service.query(asked->second))};
  if (liar_) reply = liar_->reply(reply);
  port_->read_reply(read.token, true, *reply.result);
  reads_.erase(asked);
}

void Replica::act(Refuse& refuse) {
  reads_.erase(refuse.token);
  port_->read_reply(refuse.token, false, {});
}

void Replica::act(Truncate& truncate) {
  disk_.truncate(truncate.instance, truncate.kept);
  seat_->service.stable(truncate.instance);
}

void Replica::act(TellTrail& tell) { send_now(tell.to, message(seat_->service.trail(tell.asked))); }

// ---- checkpoints ----------------------------------------------------------------------------

// The bytes are made later, as by another thread, while execution goes on.
void Replica::act(TakeCheckpoint& take) {
  if (take.instance != executed_ && !liar_) {
    world_.oracle().complain(
        concat("order: a checkpoint at ", take.instance, " is asked for at ", executed_));
  }
  const bool worth_it = seat_->service.checkpoint_due(take.ordered);
  world_.trace("replica ", id_, worth_it ? " takes" : " skips", " a checkpoint at ", take.instance,
               " after ", take.ordered, " bytes", take.wanted ? "" : ", which nobody wants");
  if (is_correct()) world_.oracle().checkpoint_due(id_, take.instance, worth_it);
  if (!take.wanted) return;
  if (!worth_it) {
    world_.after(world_.wires().between(Time{}, world_.plan().checkpoint_most),
                 [this, life = life_, instance = take.instance] {
                   if (life == life_) hear(CheckpointSkipped{instance});
                 });
    return;
  }
  const Time takes =
      world_.wires().between(Time{}, world_.plan().checkpoint_most) * world_.wires().slowness(id_);
  // Both ways are taken: what a replica with a disk does, and one without.
  const smr::Pieces pieces = id_ % 2 == 0 ? smr::Pieces::made_again : smr::Pieces::kept;
  world_.after(takes, [this, life = life_, make = seat_->service.snapshot(pieces)] {
    if (life != life_) return;
    const Checkpoint checkpoint = make();
    if (auto kept = disk_.checkpoints().keep(checkpoint); !kept) return fail(kept.error());
    const CheckpointInfo& info = checkpoint.info;
    if (is_correct()) world_.oracle().checkpoint(id_, info.instance, info.state);
    hear(CheckpointTaken{info, checkpoint.digests});
  });
}

void Replica::act(SendChunk& send) {
  const auto chunk = disk_.checkpoints().chunk(send.instance, send.chunk);
  if (chunk) send_now(send.to, message(Chunk{send.instance, send.chunk, *chunk}));
}

void Replica::act(StoreChunk& store) {
  auto stored = disk_.checkpoints().incoming().store(store.checkpoint, store.chunk, *store.bytes);
  if (!stored) fail(stored.error());
}

void Replica::act(LoadCheckpoint& load) {
  const Instance instance = load.checkpoint.instance;
  world_.trace("replica ", id_, " becomes the checkpoint at ", instance);
  std::string why;
  const auto image = disk_.checkpoints().complete(load.checkpoint);
  if (!image && image.error().code == Errc::io) return fail(image.error());
  if (!image) {
    why = image.error().message;
  } else if (auto done = seat_->service.restore(instance, **image); !done) {
    why = done.error().message;
  }
  if (why.empty()) {
    executed_ = instance;
    if (is_correct()) world_.oracle().reached(id_, instance, seat_->machine->hash());
  } else if (!liar_ && !bad_disk_) {
    world_.oracle().complain(concat("replica ", id_, " cannot load a checkpoint: ", why));
  }
  after_execution(CheckpointLoaded{instance, why}, milliseconds(1));
  if (why.empty()) after_execution(Executed{instance, seat_->service.timer()}, milliseconds(1));
}

void Replica::act(UseView& use) {
  world_.trace("replica ", id_, " uses view ", use.view.id);
  if (liar_) return;
  world_.oracle().uses_view(id_, use.view);
  world_.hears_of(use.view);
}

void Replica::act(Note& note) { world_.trace("replica ", id_, ": ", note.text); }

void Replica::act(Halt& halt) {
  world_.trace("replica ", id_, " gives up: ", halt.why);
  if (is_correct()) world_.oracle().complain(concat("replica ", id_, " gives up: ", halt.why));
  why_ = halt.why;
  halted_ = true;
  crash();
}

}  // namespace piracema::smr_sim
