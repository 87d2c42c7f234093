#include "smr/order/core/core.h"

#include <utility>

#include "base/text.h"
#include "smr/order/core/parts.h"

namespace piracema::smr {

Core::Core(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered)
    : parts_(new Parts(settings, me, auth, std::move(recovered))) {}
Core::~Core() = default;

void Core::step(Time now, Event event, std::vector<Action>& out) {
  parts_->advance_to(now, event, out);
}
std::optional<Time> Core::next_deadline() const { return parts_->next_deadline(); }

const View& Core::view() const { return parts_->members.view(); }
Regency Core::regency() const { return parts_->leadership.regency(); }
ReplicaId Core::leader() const { return parts_->leadership.leader(); }
bool Core::leads() const { return parts_->leadership.leads(); }
Instance Core::decided() const { return parts_->progress.decided(); }
Digest Core::history() const { return parts_->progress.history(); }
bool Core::is_silent() const { return !parts_->life.remembered(); }
std::pair<std::uint32_t, std::uint32_t> Core::fetched() const {
  const StateTransfer::Fetched fetched = parts_->transfer.fetched();
  return {fetched.pieces, fetched.of};
}
std::size_t Core::waiting_requests() const { return parts_->pool.size(); }
Footprint Core::footprint() const {
  const Parts& all = *parts_;
  return {all.instances.end() - all.instances.first(),
          all.decided_log.end() - all.decided_log.first(), all.checkpoints.stable_anywhere(),
          all.pool.size()};
}
std::vector<SignedView> Core::signed_views() const { return parts_->views.since(0); }

// What replicas that are no members yet, or no longer, may have to say.
static bool for_strangers(const Message& m) {
  return std::holds_alternative<StateRequest>(m) || std::holds_alternative<StateOffer>(m) ||
         std::holds_alternative<ManifestRequest>(m) || std::holds_alternative<Manifest>(m) ||
         std::holds_alternative<ChunkRequest>(m) || std::holds_alternative<Chunk>(m) ||
         std::holds_alternative<LogRequest>(m) || std::holds_alternative<LogSuffix>(m) ||
         std::holds_alternative<ViewVote>(m) || std::holds_alternative<SignedView>(m) ||
         std::holds_alternative<Gone>(m);
}

// ---- events --------------------------------------------------------------------------------

void Core::Parts::advance_to(Time time, Event& event, std::vector<Action>& out) {
  forgive_own_lateness(time);
  step.begin(time, out);
  if (step.halted()) return;
  if (divergence) return search(event);
  std::visit([this](auto& one) { on(one); }, event);
  part_if_different();
  leader_watch.end_step();
}

void Core::Parts::on(Received& event) {
  const auto index = members.index_of(event.from);
  if (event.from != members.me()) transfer.heard(step.now(), event.from);
  const Sender from{event.from, index.value_or(members.view().n())};
  if (!index && !for_strangers(*event.message)) {
    if (const auto* beat = std::get_if<Heartbeat>(event.message.get())) tell_of_view(from, *beat);
    return;
  }
  if (index) leader_change.heard(*index);
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { reads.handle(from, m); }) {
          reads.handle(from, m);
        } else if constexpr (requires { leader_change.handle(from, m); }) {
          leader_change.handle(from, m);
        } else {
          handle(from, m);
        }
      },
      *event.message);
}

void Core::Parts::on(Submitted& event) {
  if (event.request.operation.size() > settings.operation_bytes) return;
  pool.add(std::move(event.request), step.now(), std::nullopt);
  if (some_doubtful) doubt_again();
}

void Core::Parts::on(Executed& event) { progress.executed(event.instance, event.timer); }

void Core::Parts::on(LinkLost& event) { leader_change.lost_link(event.to); }

// ---- helpers -------------------------------------------------------------------------------

Consensus* Core::Parts::instance_at(Instance instance) {
  if (instance > horizon()) {
    timers.see_others_ahead();
    return nullptr;
  }
  if (instance < instances.first() || instance < members.first()) return nullptr;
  return &instances.at(instance, members.view().n());
}

}  // namespace piracema::smr
