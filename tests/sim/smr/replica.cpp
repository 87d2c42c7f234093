#include "sim/smr/replica.h"

#include "base/ensure.h"
#include "sim/smr/kv_service.h"
#include "sim/smr/liar.h"
#include "sim/smr/world.h"
#include "smr/mutant.h"
#include "smr/order/digest.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Small, so that a checkpoint has several pieces.
ServiceSettings service_settings(const Plan& plan) {
  ServiceSettings settings{.sessions = {}, .chunk_bytes = 256};
  if (plan.sessions > 0) settings.sessions.sessions = plan.sessions;
  return settings;
}

}  // namespace

Replica::Replica(World& world, ReplicaId id, bool lies)
    : world_(world),
      id_(id),
      auth_(world.keys(), id, world.plan().model),
      disk_(world.random().next()) {
  if (lies) liar_ = std::make_unique<Liar>(world, id, auth_);
}
Replica::~Replica() = default;

// ---- lives ----------------------------------------------------------------------------------

void Replica::start() {
  if (up() || halted_) return;
  life_ += 1;
  Random& random = world_.random();
  auto opened = disk_.open(id_, random.next());
  if (!opened) return fail(opened.error());
  Recovered recovered = std::move(opened->recovered);
  recovered.view = world_.view();
  amnesia_ = recovered.amnesia;
  begun_ = world_.now();
  offset_ = Time(random.below(static_cast<std::uint64_t>(Time(seconds(100)).count())));
  rate_ = 1 + world_.plan().drift * (2 * random.unit() - 1);

  seat_ = std::make_unique<Seat>(service_settings(world_.plan()), make_machine(),
                                 [this](const std::vector<Reply>& replies) { reply(replies); });
  executed_ = 0;
  if (recovered.checkpoint) {
    executed_ = recovered.checkpoint->instance;
    if (!seat_->service.restore(executed_, opened->image).ok()) {
      world_.oracle().complain("a checkpoint is unreadable");
    }
  }
  world_.trace("replica ", id_, " starts with ", recovered.log.size(), " records after ", executed_,
               amnesia_ ? ", without its memory" : "");
  for (const std::string& note : opened->notes) world_.trace("replica ", id_, ": ", note);
  core_ = std::make_unique<Core>(world_.plan().settings, id_, auth_, std::move(recovered));
  hear(Tick{});
}

std::unique_ptr<SimMachine> Replica::make_machine() {
  auto complain = [this](const std::string& what) {
    if (liar_) return;
    world_.oracle().complain(concat("service: at replica ", id_, " ", what));
  };
  if (world_.plan().locks) return std::make_unique<KvService>(std::move(complain));
  return std::make_unique<Machine>(std::move(complain));
}

void Replica::crash() {
  world_.trace("replica ", id_, " crashes");
  forget_life();
  disk_.crash();
}

void Replica::end() {
  forget_life();
  disk_.end();
}

void Replica::forget_life() {
  life_ += 1;
  core_.reset();
  seat_.reset();
  held_.clear();
  regained_at_.reset();
  reads_.clear();
  actions_.clear();
  planned_.reset();
  execution_free_ = {};
  crash_at_ = CrashAt::nowhere;
}

void Replica::fail(const Error& error) {
  world_.trace("replica ", id_, " ends: ", error.message);
  if (crash_at_ == CrashAt::in_disk) return world_.crash(id_);
  if (!bad_disk_) world_.oracle().complain(concat("replica ", id_, " ends: ", error.message));
  world_.end(id_);
}

void Replica::lose_disk() {
  ENSURE(!up());
  world_.trace("replica ", id_, " loses its disk");
  disk_.lose();
  amnesia_ = true;
}

void Replica::crash_at_persist() {
  if (crash_at_ != CrashAt::nowhere) return;
  crash_at_ = static_cast<CrashAt>(1 + world_.random().below(5));
  if (crash_at_ == CrashAt::in_disk) disk_.stop_after(world_.random().below(12));
}

void Replica::never_mind() {
  disk_.make_room();
  // Its disk may be off already.
  if (crash_at_ == CrashAt::in_disk) return world_.crash(id_);
  crash_at_ = CrashAt::nowhere;
}

void Replica::reply(const std::vector<Reply>& replies) {
  for (const Reply& reply : replies) {
    world_.reply(id_, liar_ ? liar_->reply(reply) : reply);
  }
}

// ---- time -----------------------------------------------------------------------------------

Time Replica::local(Time true_time) const {
  const auto elapsed = static_cast<double>((true_time - begun_).count());
  return offset_ + Time(static_cast<std::int64_t>(elapsed * rate_));
}

Time Replica::true_time(Time local) const {
  const auto elapsed = static_cast<double>((local - offset_).count());
  return begun_ + Time(static_cast<std::int64_t>(elapsed / rate_) + 1'000);
}

// One tick is under way at most, and comes no later than the deadline.
void Replica::plan_tick() {
  const auto deadline = core_->next_deadline();
  if (!deadline) return;
  const Time at = std::max(true_time(*deadline), world_.now() + microseconds(1));
  if (planned_ && *planned_ <= at) return;
  planned_ = at;
  world_.tick_at(id_, ++tick_, at);
}

void Replica::tick(std::uint64_t generation) {
  if (!up() || generation != tick_) return;
  planned_.reset();
  const auto deadline = core_->next_deadline();
  if (deadline && *deadline <= local(world_.now())) return hear(Tick{});
  plan_tick();
}

void Replica::receive(ReplicaId from, MessagePtr message) {
  if (liar_ && up()) liar_->hear(from, message);
  hear(Received{from, std::move(message)});
}

void Replica::receive(const std::shared_ptr<const Request>& request) {
  if (!up() || !auth_.verify(*request)) return;
  if (Client::is_read(*request)) {
    reads_[++read_] = request;
    return hear(ReadAsked{read_});
  }
  if (!seat_->service.answer_again(*request)) hear(Submitted{*request});
}

// ---- the core -------------------------------------------------------------------------------

void Replica::hear(Event event) {
  if (!up()) return;
  core_->step(local(world_.now()), std::move(event), actions_);
  const std::uint64_t life = life_;
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    std::visit([this](auto& action) { act(action); }, actions_[i]);
    if (life != life_) return;  // One of them was its last.
  }
  actions_.clear();
  sync();
  plan_tick();
}

void Replica::act(Persist& persist) {
  if (crash_at_ == CrashAt::before_record) return world_.crash(id_);
  const bool regained = std::holds_alternative<MemoryRegained>(persist.record);
  disk_.append(persist.record);
  if (regained) regained_at_ = disk_.appended();
  if (crash_at_ == CrashAt::after_record) world_.crash(id_);
}

void Replica::act(Send& send) {
  if (send.after_log && disk_.durable() < disk_.appended() && !SMR_MUTANT("send_before_sync")) {
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
  if (!liar_) oracle.reached(id_, execute.instance, seat_->machine->hash());
  after_execution(Executed{execute.instance},
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
  const Request& request = *asked->second;
  auto result = std::make_shared<const Buffer>(seat_->service.query(request.operation));
  reply({{request.client, request.session, request.sequence, ReplyStatus::done, result}});
  reads_.erase(asked);
}

void Replica::act(Refuse& refuse) { reads_.erase(refuse.token); }

// ---- the disk -------------------------------------------------------------------------------

// Records are gathered while a sync is under way: one for many.
void Replica::sync() {
  if (!disk_.begin_sync()) return;
  const Time takes = world_.wires().between(microseconds(20), world_.plan().sync_most) *
                     world_.wires().slowness(id_);
  world_.sync_done(id_, life_, world_.now() + takes);
}

void Replica::synced(std::uint64_t life) {
  if (life != life_) return;
  if (auto done = disk_.end_sync(); !done) return fail(done.error());
  if (regained_at_ && *regained_at_ <= disk_.durable()) amnesia_ = false;
  if (crash_at_ == CrashAt::after_sync) return world_.crash(id_);
  while (!held_.empty() && held_.front().after <= disk_.durable()) {
    send_now(held_.front().to, held_.front().message);
    held_.pop_front();
    if (crash_at_ == CrashAt::between_sends) return world_.crash(id_);
  }
  sync();
}

void Replica::act(Truncate& truncate) { disk_.truncate(truncate.instance); }

// ---- checkpoints ----------------------------------------------------------------------------

// The bytes are made later, as by another thread, while execution goes on.
void Replica::act(TakeCheckpoint& take) {
  if (take.instance != executed_ && !liar_) {
    world_.oracle().complain(
        concat("order: a checkpoint at ", take.instance, " is asked for at ", executed_));
  }
  const Time takes =
      world_.wires().between(Time{}, milliseconds(20)) * world_.wires().slowness(id_);
  world_.after(takes, [this, life = life_, make = seat_->service.snapshot()] {
    if (life != life_) return;
    const Checkpoint checkpoint = make();
    if (auto kept = disk_.checkpoints().keep(checkpoint); !kept) return fail(kept.error());
    const CheckpointInfo& info = checkpoint.info;
    if (!liar_) world_.oracle().checkpoint(id_, info.instance, info.state);
    hear(CheckpointTaken{info, checkpoint.digests});
  });
}

void Replica::act(SendChunk& send) {
  const auto chunk = disk_.checkpoints().chunk(send.instance, send.chunk);
  if (chunk) send_now(send.to, message(Chunk{send.instance, send.chunk, *chunk}));
}

void Replica::act(StoreChunk& store) {
  auto stored = disk_.checkpoints().store(store.checkpoint, store.chunk, *store.bytes);
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
    if (!liar_) world_.oracle().reached(id_, instance, seat_->machine->hash());
  } else if (!liar_ && !bad_disk_) {
    world_.oracle().complain(concat("replica ", id_, " cannot load a checkpoint: ", why));
  }
  after_execution(CheckpointLoaded{instance, why}, milliseconds(1));
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
  if (!liar_) world_.oracle().complain(concat("replica ", id_, " gives up: ", halt.why));
  halted_ = true;
  crash();
}

}  // namespace piracema::smr_sim
