#include "smr/order/core/parts.h"

/// Reconfiguration, plugged in.
namespace piracema::smr {

void Core::Parts::handle(Sender from, const ViewVote& m) { views.on_vote(from.id, m, *out); }
void Core::Parts::handle(Sender, const SignedView& m) { views.on_signed(m, *out); }

void Core::Parts::decide_view(const Batch& batch) {
  std::vector<Action> wanted;
  views.decided(now, decided, batch, wanted);
  if (replaying) return;
  for (Action& action : wanted) out->push_back(std::move(action));
  fill_until = std::max(fill_until, views.fill_until());
}

// The last instance of a view is decided; the next one is for others to order.
bool Core::Parts::at_boundary() const { return views.next() && decided + 1 == views.next_from(); }

// With liars a replica leaves the old view only when it can prove what that has decided: until then
// the others may need its votes.
void Core::Parts::pass_view() {
  if (!at_boundary() || (byzantine() && proof.instance < decided)) return;
  if (views.passed(decided, *out)) use_view();
}

// Nobody has voted for what the new view orders, so all of its members begin at the same regency,
// the first, and nothing is bound.
void Core::Parts::use_view() {
  if (view.id == views.view().id) return;
  view = views.view();
  view_from = decided + 1;
  own = index_of(me);
  regencies = Regencies(view.n(), 0);
  stop_said = 0;
  leads_from = 0;
  synced = true;
  entry_durable = false;
  persist(RegencyEntered{0, view.id});
  bound.clear();
  fetching = std::nullopt;
  fill_until = base = 0;
  next_instance = decided + 1;
  sync = nullptr;
  collects.assign(view.n(), std::nullopt);
  decided_by.assign(view.n(), 0);
  repeated_at.assign(view.n(), Time{});
  lost.assign(view.n(), false);
  failures = 0;
  heard_leader = regency_began = worked_until = now;
  leader_rate.begin(now, view.leader(0));
  instances.drop_after(decided);
  refuse_reads();
  if (!voting) amnesia.forget();
}

}  // namespace piracema::smr
