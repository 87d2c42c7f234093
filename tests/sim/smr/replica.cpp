#include "sim/smr/replica.h"

#include "base/ensure.h"
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
const ServiceSettings service_settings{.sessions = {}, .chunk_bytes = 256};

}  // namespace

Replica::Replica(World& world, ReplicaId id, bool lies)
    : world_(world), id_(id), auth_(world.keys(), id, world.plan().model) {
  if (lies) liar_ = std::make_unique<Liar>(world, id, auth_);
}
Replica::~Replica() = default;

// ---- lives ----------------------------------------------------------------------------------

void Replica::start() {
  if (up() || halted_) return;
  life_ += 1;
  Random& random = world_.random();
  begun_ = world_.now();
  offset_ = Time(random.below(static_cast<std::uint64_t>(Time(seconds(100)).count())));
  rate_ = 1 + world_.plan().drift * (2 * random.unit() - 1);

  seat_ = std::make_unique<Seat>(
      service_settings,
      [this](const std::string& what) {
        if (liar_) return;
        world_.oracle().complain(concat("exactly once: at replica ", id_, " ", what));
      },
      [this](const std::vector<Reply>& replies) { reply(replies); });
  Recovered recovered{.view = world_.view(), .log = disk_.log(), .amnesia = amnesia_};
  recovered.nonce = random.next();
  executed_ = 0;
  if (const auto stable = disk_.stable()) {
    recovered.checkpoint = stable->info;
    recovered.chunks = stable->checkpoint->digests;
    executed_ = stable->info.instance;
    if (!restore(*stable->checkpoint)) world_.oracle().complain("a checkpoint is unreadable");
  }
  if (disk_.partial) {
    recovered.partial = PartialCheckpoint{disk_.partial->info, {}};
    recovered.partial->chunks.resize(disk_.partial->info.chunk_count);
    for (const auto& [chunk, bytes] : disk_.partial->chunks) {
      recovered.partial->chunks[chunk] = digest_of(*bytes);
    }
  }
  world_.trace("replica ", id_, " starts with ", recovered.log.size(), " records after ", executed_,
               amnesia_ ? ", without its memory" : "");
  core_ = std::make_unique<Core>(world_.plan().settings, id_, auth_, std::move(recovered));
  hear(Tick{});
}

void Replica::crash() {
  if (!up()) return;
  world_.trace("replica ", id_, " crashes");
  life_ += 1;
  core_.reset();
  seat_.reset();
  disk_.crash(world_.random());
  syncing_ = false;
  held_.clear();
  truncations_.clear();
  regained_at_.reset();
  reads_.clear();
  actions_.clear();
  planned_.reset();
  execution_free_ = {};
  crash_at_ = CrashAt::nowhere;
}

void Replica::lose_disk() {
  ENSURE(!up());
  world_.trace("replica ", id_, " loses its disk");
  disk_ = Disk();
  amnesia_ = true;
  regained_at_.reset();
}

void Replica::crash_at_persist() { crash_at_ = static_cast<CrashAt>(1 + world_.random().below(4)); }

bool Replica::restore(const Checkpoint& checkpoint) {
  Buffer image;
  for (const auto& chunk : checkpoint.chunks) image.append(chunk->data(), chunk->size());
  return seat_->service.restore(checkpoint.info.instance, image).ok();
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
  disk_.append(std::move(persist.record));
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
  if (!liar_) oracle.reached(id_, execute.instance, seat_->machine.hash());
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
  if (syncing_ || disk_.durable() == disk_.appended()) return;
  syncing_ = true;
  const Time takes = world_.wires().between(microseconds(20), world_.plan().sync_most) *
                     world_.wires().slowness(id_);
  world_.sync_done(id_, life_, disk_.appended(), world_.now() + takes);
}

void Replica::synced(std::uint64_t life, std::size_t upto) {
  if (life != life_) return;
  syncing_ = false;
  disk_.synced(upto);
  if (regained_at_ && *regained_at_ <= upto) amnesia_ = false;
  if (crash_at_ == CrashAt::after_sync) return world_.crash(id_);
  while (!truncations_.empty() && truncations_.front().after <= disk_.durable()) {
    disk_.truncate(truncations_.front().instance, truncations_.front().after);
    truncations_.pop_front();
  }
  while (!held_.empty() && held_.front().after <= disk_.durable()) {
    send_now(held_.front().to, held_.front().message);
    held_.pop_front();
    if (crash_at_ == CrashAt::between_sends) return world_.crash(id_);
  }
  sync();
}

void Replica::act(Truncate& truncate) {
  truncations_.push_back({disk_.appended(), truncate.instance});
  disk_.forget_checkpoints(truncate.instance);
}

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
    Checkpoint checkpoint = make();
    const CheckpointInfo info = checkpoint.info;
    std::vector<Digest> chunks = checkpoint.digests;
    disk_.keep(info.instance, std::move(checkpoint));
    if (!liar_) world_.oracle().checkpoint(id_, info.instance, info.state);
    hear(CheckpointTaken{info, std::move(chunks)});
  });
}

void Replica::act(SendChunk& send) {
  const auto* checkpoint = disk_.checkpoint(send.instance);
  if (checkpoint == nullptr || send.chunk >= checkpoint->chunks.size()) return;
  send_now(send.to, message(Chunk{send.instance, send.chunk, checkpoint->chunks[send.chunk]}));
}

void Replica::act(StoreChunk& store) {
  auto& partial = disk_.partial;
  if (!partial || partial->info.instance != store.checkpoint.instance ||
      partial->info.state != store.checkpoint.state) {
    partial = Disk::Partial{store.checkpoint, {}};
  }
  partial->chunks[store.chunk] = store.bytes;
}

void Replica::act(LoadCheckpoint& load) {
  const Instance instance = load.checkpoint.instance;
  world_.trace("replica ", id_, " becomes the checkpoint at ", instance);
  std::string why;
  if (!disk_.partial || disk_.partial->chunks.size() != load.checkpoint.chunk_count) {
    why = "pieces are missing";
  } else {
    Checkpoint checkpoint{.info = load.checkpoint};
    for (const auto& [chunk, bytes] : disk_.partial->chunks) {
      checkpoint.chunks.push_back(bytes);
      checkpoint.digests.push_back(digest_of(*bytes));
    }
    if (!restore(checkpoint)) why = "the service does not know its image";
    disk_.keep(instance, std::move(checkpoint));
    disk_.partial.reset();
  }
  if (why.empty()) {
    executed_ = instance;
    if (!liar_) world_.oracle().reached(id_, instance, seat_->machine.hash());
  } else if (!liar_) {
    world_.oracle().complain(concat("replica ", id_, " cannot load a checkpoint: ", why));
  }
  after_execution(CheckpointLoaded{instance, why}, milliseconds(1));
}

void Replica::act(Note& note) { world_.trace("replica ", id_, ": ", note.text); }

void Replica::act(Halt& halt) {
  world_.trace("replica ", id_, " gives up: ", halt.why);
  if (!liar_) world_.oracle().complain(concat("replica ", id_, " gives up: ", halt.why));
  halted_ = true;
  crash();
}

}  // namespace piracema::smr_sim
