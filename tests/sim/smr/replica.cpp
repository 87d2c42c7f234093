#include "sim/smr/replica.h"

#include "base/ensure.h"
#include "sim/smr/astray.h"
#include "sim/smr/kv_service.h"
#include "sim/smr/liar.h"
#include "sim/smr/mutants.h"
#include "sim/smr/world.h"
#include "smr/link/client_wire.h"
#include "smr/order/messages/digest.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::size_t operation_bytes_max = std::size_t{1} << 20;
constexpr Time port_tick_interval = milliseconds(100);

ServiceSettings service_settings(const Plan& plan) {
  ServiceSettings settings{.sessions = {}, .chunk_bytes = plan.chunk_bytes};
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
  for (std::size_t id = recovered.view.n(); id < world_.replicas(); ++id) {
    recovered.added.push_back(static_cast<ReplicaId>(id));
  }
  amnesia_ = recovered.amnesia;
  begun_ = world_.now();
  offset_ = Time(random.below(static_cast<std::uint64_t>(Time(seconds(100)).count())));
  rate_ = 1 + world_.plan().drift * (2 * random.unit() - 1);

  seat_ = std::make_unique<Seat>(service_settings(world_.plan()), make_machine(),
                                 [this](const std::vector<Reply>& replies) { reply(replies); });
  port_ = make_port();
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
  if (up() && executed_ > 0) hear(Executed{executed_, seat_->service.timer()});
}

std::unique_ptr<SimMachine> Replica::make_machine() {
  auto complain = [this](const std::string& what) {
    if (!is_correct()) return;
    world_.oracle().complain(concat("service: at replica ", id_, " ", what));
  };
  std::unique_ptr<SimMachine> machine;
  if (world_.plan().locks) {
    machine = std::make_unique<KvService>(std::move(complain));
  } else {
    machine = std::make_unique<Machine>(std::move(complain), world_.plan().ballast);
  }
  machine->says_bytes = world_.plan().state_bytes;
  if (astray_at_ == 0) return machine;
  return std::make_unique<AstrayMachine>(
      std::move(machine), astray_at_,
      [this](Instance instance, std::uint32_t index) {
        went_astray_ = Divergence::Place{instance, index};
      },
      [this] { shows_it_ = true; });
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
  stable_known_ = stable_known();
  core_.reset();
  seat_.reset();
  port_.reset();
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

// ---- clients --------------------------------------------------------------------------------

std::unique_ptr<ClientPort> Replica::make_port() {
  return std::make_unique<ClientPort>(
      world_.plan().model, operation_bytes_max,
      ClientPort::Host{[this](Request request) { submit(std::move(request)); },
                       [this](Request request) { submit_again(std::move(request)); },
                       [this](std::uint64_t token, Buffer operation) {
                         reads_[token] = std::move(operation);
                         world_.happens(id_, life_, ReadAsked{token}, world_.now());
                       },
                       [this] {
                         std::vector<Buffer> views;
                         for (SignedView& view : core_->signed_views()) {
                           views.push_back(encode(*message(std::move(view))).head);
                         }
                         return views;
                       }});
}

void Replica::submit(Request request) {
  if (!auth_.verify(request)) return;
  world_.happens(id_, life_, Submitted{std::move(request)}, world_.now());
}

void Replica::submit_again(Request request) {
  if (auth_.verify(request) && !seat_->service.answer_again(request)) submit(std::move(request));
}

void Replica::receive(const std::shared_ptr<const Request>& request) {
  if (up()) submit_again(*request);
}

void Replica::take(std::shared_ptr<ClientLink> link) {
  port_->take(link);
  if (liar_ && (world_.plan().lies & false_view) != 0) {
    link->send(new_view_kind, liar_->false_view());
  }
}

void Replica::received(ClientLink& link, const LinkMessage& message) {
  if (up() && link.is_at_replica()) port_->received(link, message.kind, *message.bytes);
}

void Replica::lost(ClientLink& link) {
  if (!link.is_at_replica()) return;
  link.lost_at_replica();
  port_->lost(link);
}

void Replica::reply(const std::vector<Reply>& replies) {
  for (const Reply& reply : replies) {
    port_->reply(liar_ ? liar_->reply(reply) : reply);
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
  port_->set_standing({core_->view().id, core_->regency(), core_->leader()});
  if (world_.now() - port_tick_ >= port_tick_interval) {
    port_tick_ = world_.now();
    port_->tick(port_tick_);
  }
  sync();
  plan_tick();
}

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

}  // namespace piracema::smr_sim
