#include "smr/order/core/core.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "smr/order/core/log_replay.h"
#include "smr/order/step/earliest.h"

namespace piracema::smr {

Core::Core(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered)
    : settings_(settings),
      recovered_(std::move(recovered)),
      members_(me, recovered_->view),
      step_(members_),
      clock_(view().model, settings.clock_credit),
      pool_(settings),
      life_(recovered_->amnesia),
      views_(me, auth, view(), settings.resend_interval),
      checkpoints_(me, view().model, auth, settings.checkpoint_interval, settings.resend_interval),
      transfer_(me, auth, recovered_->nonce, std::move(recovered_->partial),
                settings.resend_interval),
      proofs_(step_, members_, progress_, views_, auth),
      leadership_(members_, life_),
      patience_(settings),
      reads_(step_, members_, leadership_, progress_, patience_, settings.resend_interval),
      proposer_(settings, step_, members_, leadership_, progress_, instances_, clock_, pool_),
      leader_change_(settings.resend_interval, step_, members_, leadership_, life_, patience_,
                     reads_, proposer_, progress_, instances_, proofs_, pool_, auth),
      leader_watch_(settings, step_, members_, leadership_, patience_, progress_, proposer_, pool_,
                    leader_change_),
      peers_(view().n()),
      timers_(settings.resend_interval, view().n()),
      ordering_(settings, step_, members_, progress_, life_, leadership_, patience_, reads_,
                proposer_, leader_change_, leader_watch_, instances_, clock_, pool_, proofs_,
                decided_log_, checkpoints_, views_, transfer_, peers_, timers_, auth),
      retransmission_(step_, members_, leadership_, progress_, instances_, decided_log_, proofs_,
                      proposer_, leader_change_, leader_watch_, peers_, timers_, ordering_),
      state_server_(step_, members_, life_, leadership_, progress_, instances_, decided_log_,
                    checkpoints_, views_, proofs_, proposer_),
      catch_up_(settings.resend_interval, step_, members_, life_, leadership_, progress_,
                checkpoints_, views_, transfer_, proofs_, leader_change_, state_server_, ordering_,
                settings.backlog, auth),
      divergence_search_(step_, members_, checkpoints_, decided_log_, settings.resend_interval) {
  views_.may_be_added(recovered_->added);
}

std::pair<std::uint32_t, std::uint32_t> Core::fetched() const {
  const StateTransfer::Fetched fetched = transfer_.fetched();
  return {fetched.pieces, fetched.of};
}

Footprint Core::footprint() const {
  return {instances_.end() - instances_.first(), decided_log_.end() - decided_log_.first(),
          checkpoints_.stable_anywhere(), pool_.size()};
}

// ---- events --------------------------------------------------------------------------------

void Core::step(Time now, Event event, std::vector<Action>& out) {
  forgive_own_lateness(now);
  step_.begin(now, out);
  if (step_.halted()) return;
  if (divergence_search_.under_way()) return divergence_search_.search(event);
  std::visit([this](auto& one) { on(one); }, event);
  divergence_search_.begin_if_parted();
  leader_watch_.end_step();
}

namespace {

// What replicas that are no members yet, or no longer, may have to say.
bool is_for_strangers(const Message& m) {
  return std::holds_alternative<StateRequest>(m) || std::holds_alternative<StateOffer>(m) ||
         std::holds_alternative<ManifestRequest>(m) || std::holds_alternative<Manifest>(m) ||
         std::holds_alternative<ChunkRequest>(m) || std::holds_alternative<Chunk>(m) ||
         std::holds_alternative<LogRequest>(m) || std::holds_alternative<LogSuffix>(m) ||
         std::holds_alternative<ViewVote>(m) || std::holds_alternative<SignedView>(m) ||
         std::holds_alternative<Gone>(m);
}

template <class Part, class M>
constexpr bool handles = requires(Part& part, Sender from, const M& m) {
  part.handle(from, m);
};

}  // namespace

void Core::on(Received& event) {
  const auto index = members_.index_of(event.from);
  if (event.from != members_.me()) transfer_.heard(step_.now(), event.from);
  if (!index && !is_for_strangers(*event.message)) {
    if (const auto* beat = std::get_if<Heartbeat>(event.message.get())) {
      retransmission_.tell_of_view(event.from, *beat);
    }
    return;
  }
  if (index) leader_change_.heard(*index);
  const Sender from{event.from, index.value_or(view().n())};
  std::visit([&](const auto& m) { hand_over(from, m); }, *event.message);
}

// Each kind of message has one part that handles it.
template <class M>
void Core::hand_over(Sender from, const M& m) {
  static_assert(handles<Ordering, M> + handles<LeaderChange, M> + handles<ConfirmedReads, M> +
                    handles<Retransmission, M> + handles<StateServer, M> + handles<CatchUp, M> +
                    handles<DivergenceSearch, M> ==
                1);
  if constexpr (handles<Ordering, M>) {
    ordering_.handle(from, m);
  } else if constexpr (handles<LeaderChange, M>) {
    leader_change_.handle(from, m);
  } else if constexpr (handles<ConfirmedReads, M>) {
    reads_.handle(from, m);
  } else if constexpr (handles<Retransmission, M>) {
    retransmission_.handle(from, m);
  } else if constexpr (handles<StateServer, M>) {
    state_server_.handle(from, m);
  } else if constexpr (handles<CatchUp, M>) {
    catch_up_.handle(from, m);
  } else {
    divergence_search_.handle(from, m);
  }
}

// ---- time ----------------------------------------------------------------------------------

void Core::on(Tick&) {
  if (recovered_) start();
  leader_watch_.tick();
  ordering_.tick();
  retransmission_.tick();
  catch_up_.tick();
  if (!leads()) return;
  ordering_.propose();
  reads_.confirm(proposer_.highest_proposed());
  proposer_.beat();
}

// The first step: timers begin, and what is known to be decided is executed again.
void Core::start() {
  patience_.start(step_.now());
  clock_.start(step_.now());
  leader_watch_.begin(step_.now());
  timers_.restart(step_.now());
  LogReplay(step_, members_, life_, leadership_, progress_, instances_, proofs_, checkpoints_,
            views_, ordering_)
      .recover(*std::exchange(recovered_, std::nullopt));
  clock_.recovered(step_.now());
  proposer_.start();
  step_.persist(RegencyEntered{regency(), view().id});
  if (!leadership_.synced()) {
    patience_.wait_for_sync(step_.now());
    leader_change_.send_stop_data();
  }
  // What it proposed before it crashed was perhaps not written down, and a second proposal for the
  // same place in the same regency could be taken for the first.
  if (leadership_.is_leader() && !life_.may_lead_in(regency())) {
    leader_change_.demand("this leader has restarted");
  }
}

// A replica that was stopped, or had no processor, finds all its timers run out at once, though
// nobody had the time to answer: what it missed is no fault of the leader's. Where everybody stood
// still, everybody finds so. A leader that stays silent is not forgiven a third time.
void Core::forgive_own_lateness(Time time) {
  const Time much = Time(settings_.silence_timeout) / 4;
  if (recovered_ || step_.halted() || divergence_search_.under_way()) return;
  if (time - step_.now() <= much) return;
  const auto due = next_deadline();
  if (due && time - *due > much) leader_watch_.forgive(time, time - *due);
}

std::optional<Time> Core::next_deadline() const {
  if (step_.halted()) return std::nullopt;
  if (divergence_search_.under_way()) return divergence_search_.next_deadline();
  if (recovered_ || ordering_.can_propose()) return step_.now();
  if (leads() && reads_.some_wait()) return step_.now();
  Earliest next;
  next.by(catch_up_.next_deadline());
  next.by(leader_watch_.next_deadline());
  next.by(proposer_.next_deadline());
  if (leads()) next.by(reads_.next_deadline());
  next.by(ordering_.next_deadline());
  next.by(retransmission_.next_deadline());
  return next.time() ? std::max(*next.time(), step_.now()) : next.time();
}

}  // namespace piracema::smr
