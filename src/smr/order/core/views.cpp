#include "smr/order/core/parts.h"

/// Reconfiguration, plugged in.
namespace piracema::smr {

void Core::Parts::handle(Sender from, const ViewVote& m) { views.on_vote(from.id, m, step.out()); }
void Core::Parts::handle(Sender, const SignedView& m) { views.on_signed(m, step.out()); }

void Core::Parts::decide_view(const Batch& batch) {
  std::vector<Action> wanted;
  views.decided(step.now(), progress.decided(), batch, wanted);
  if (step.replaying()) return;
  for (Action& action : wanted) step.out().push_back(std::move(action));
  proposer.fill_until(views.fill_until());
}

// The last instance of a view is decided; the next one is for others to order.
bool Core::Parts::at_boundary() const {
  return views.next() && progress.decided() + 1 == views.next_from();
}

// With liars a replica leaves the old view only when it can prove what that has decided: until then
// the others may need its votes.
void Core::Parts::pass_view() {
  if (!at_boundary() || (members.byzantine() && proofs.proven() < progress.decided())) return;
  if (views.passed(progress.decided(), step.out())) use_view();
}

// Nobody has voted for what the new view orders, so all of its members begin at the same regency,
// the first, and nothing is bound.
void Core::Parts::use_view() {
  if (members.view().id == views.view().id) return;
  members.use(views.view(), progress.decided() + 1);
  leadership.begin_view();
  life.begin_view();
  patience.begin_view(step.now());
  step.persist(RegencyEntered{0, members.view().id});
  proposer.begin_view();
  leader_change.begin_view();
  peers.begin_view(members.view().n());
  timers.begin_view(members.view().n());
  leader_watch.begin(step.now());
  instances.drop_after(progress.decided());
  reads.refuse();
}

}  // namespace piracema::smr
