#include "smr/order/core.h"

#include <utility>

#include "base/text.h"
#include "smr/order/core_parts.h"

namespace piracema::smr {

Core::Core(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered)
    : parts_(new Parts(settings, me, auth, std::move(recovered))) {}
Core::~Core() = default;

void Core::step(Time now, Event event, std::vector<Action>& out) { parts_->step(now, event, out); }
std::optional<Time> Core::next_deadline() const { return parts_->next_deadline(); }

const View& Core::view() const { return parts_->view; }
Regency Core::regency() const { return parts_->regency(); }
ReplicaId Core::leader() const { return parts_->view.leader(parts_->regency()); }
bool Core::leads() const { return parts_->leads(); }
Instance Core::decided() const { return parts_->decided; }
Digest Core::history() const { return parts_->history; }
std::size_t Core::waiting_requests() const { return parts_->pool.size(); }
std::vector<SignedView> Core::signed_views() const { return parts_->views.since(0); }

// What replicas that are no members yet, or no longer, may have to say.
static bool for_strangers(const Message& m) {
  return std::holds_alternative<StateRequest>(m) || std::holds_alternative<StateOffer>(m) ||
         std::holds_alternative<ManifestRequest>(m) || std::holds_alternative<Manifest>(m) ||
         std::holds_alternative<ChunkRequest>(m) || std::holds_alternative<Chunk>(m) ||
         std::holds_alternative<LogRequest>(m) || std::holds_alternative<LogSuffix>(m) ||
         std::holds_alternative<ViewVote>(m) || std::holds_alternative<SignedView>(m);
}

// ---- events --------------------------------------------------------------------------------

void Core::Parts::step(Time time, Event& event, std::vector<Action>& actions) {
  ENSURE(time >= now);
  now = time;
  out = &actions;
  if (halted) return;
  const std::size_t before = actions.size();
  std::visit([this](auto& one) { on(one); }, event);
  for (std::size_t i = before; i < actions.size(); ++i) {
    halted |= std::holds_alternative<Halt>(actions[i]);
  }
}

void Core::Parts::on(Received& event) {
  const auto index = index_of(event.from);
  if (event.from != me) transfer.hurry(now);  // The way to others is there, perhaps once again.
  if (!index && !for_strangers(*event.message)) return;
  if (index) lost[*index] = false;
  const Sender from{event.from, index.value_or(view.n())};
  std::visit([&](const auto& m) { handle(from, m); }, *event.message);
}

void Core::Parts::on(Submitted& event) {
  if (event.request.operation.size() > settings.operation_bytes) return;
  pool.add(std::move(event.request), now, std::nullopt);
  if (some_doubtful) doubt_again();
}

void Core::Parts::on(Executed& event) {
  ENSURE(event.instance <= decided);
  executed = std::max(executed, event.instance);
}

void Core::Parts::on(LinkLost& event) {
  const auto index = index_of(event.to);
  if (!index || event.to == me) return;
  lost[*index] = true;
  if (event.to == view.leader(regency())) demand(concat("lost the connection to ", event.to));
}

void Core::Parts::on(Tick&) {
  if (!started) start();
  watch_leader();
  if (synced) expire_requests();
  if (!content() && now >= stop_again) ask_to_stop(regencies.wanted());
  if (look_again_at && now >= *look_again_at) look_again();
  if (stuck() && now >= say_again_at) say_again();
  tick_state();
  if (leads()) {
    propose();
    confirm_reads();
    beat();
  }
}

// The first step: timers begin, and what is known to be decided is executed again.
void Core::Parts::start() {
  started = true;
  heard_leader = progress_at = clock_at = now;
  say_again_every = settings.resend_interval;
  say_again_at = now + say_again_every;
  recover();
  clock_bound.start(now, decided_time);
  next_instance = decided + 1;
  persist(RegencyEntered{regency(), view.id});
  if (!synced) {
    sync_by = now + settings.sync_timeout;
    send_stop_data();
  }
  // What it proposed before it crashed was perhaps not written down, and a second proposal for the
  // same place in the same regency could be taken for the first.
  if (view.leader(regency()) == me && regency() < leads_from) demand("this leader has restarted");
}

void Core::Parts::watch_leader() {
  if (!synced) {
    if (now >= sync_by) demand("no SYNC in time");
    if (now >= stop_data_again) send_stop_data();
  } else if (leads()) {
    // Another one may have it all. This one goes on catching up meanwhile, and is asked again.
    if (now >= ready_by && is_behind_as_leader()) {
      demand(concat("this leader has decided ", decided, " and is to go on from ", next_instance));
    }
  } else if (view.leader(regency()) != me &&
             now >= heard_leader + patient(settings.silence_timeout)) {
    demand(concat("nothing heard of leader ", view.leader(regency())));
  }
}

// Paper 003, section 2.1.1: a request that is not ordered in time goes to all replicas, so that a
// client that told only some of us cannot bring the leader down alone; the second time a new leader
// is asked for.
void Core::Parts::expire_requests() {
  const Time timeout = patient(settings.request_timeout);
  auto expired = pool.expire(now, timeout);
  Forward part;
  std::size_t bytes = 0;
  for (Request& request : expired.forward) {
    bytes += request.operation.size() + request.proof.size();
    part.requests.push_back(std::move(request));
    if (bytes < settings.batch_bytes) continue;
    send_others(message(std::exchange(part, {})));
    bytes = 0;
  }
  if (!part.requests.empty()) send_others(message(std::move(part)));
  // A leader that only crashes favours nobody: while it decides, requests wait because there are
  // many of them.
  if (!byzantine() && progress_at + timeout > now) return;
  if (expired.overdue) demand("requests have waited for too long");
}

std::optional<Time> Core::Parts::next_deadline() const {
  if (halted) return std::nullopt;
  if (!started || can_propose()) return now;
  if (leads() && !reads_waiting.empty() && reads_asked.empty()) return now;
  std::optional<Time> next;
  const auto by = [&next](Time time) {
    if (!next || time < *next) next = time;
  };
  if (const auto deadline = state_deadline()) by(*deadline);
  const bool may_demand = votes() && content();
  if (!synced) {
    by(stop_data_again);
    if (may_demand) by(sync_by);
  } else {
    if (const auto deadline = pool.next_deadline(patient(settings.request_timeout))) by(*deadline);
    if (may_demand && view.leader(regency()) != me) {
      by(heard_leader + patient(settings.silence_timeout));
    }
  }
  if (look_again_at) by(*look_again_at);
  if (leads()) by(beat_at);
  if (leads() && may_demand && is_behind_as_leader()) by(ready_by);
  if (leads() && !reads_asked.empty()) by(read_again);
  if (!content()) by(stop_again);
  if (stuck()) by(say_again_at);
  return next ? std::max(*next, now) : next;
}

// ---- helpers -------------------------------------------------------------------------------

std::optional<std::size_t> CoreData::index_of(ReplicaId id) const {
  for (std::size_t i = 0; i < view.n(); ++i) {
    if (view.members[i].id == id) return i;
  }
  return std::nullopt;
}

Consensus* Core::Parts::instance_at(Instance instance) {
  if (instance > horizon()) {
    others_ahead = true;
    return nullptr;
  }
  if (instance < instances.first() || instance < view_from) return nullptr;
  return &instances.at(instance, view.n());
}

void Core::Parts::halt(std::string why) {
  act(Halt{std::move(why)});
  halted = true;
}

void Core::Parts::send_others(const MessagePtr& m, bool after_log) {
  for (const MemberInfo& member : view.members) {
    if (member.id != me) act(Send{member.id, m, after_log});
  }
}

void Core::Parts::send_all(const MessagePtr& m, bool after_log) {
  for (const MemberInfo& member : view.members) act(Send{member.id, m, after_log});
}

}  // namespace piracema::smr
