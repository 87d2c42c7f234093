// Who takes part, while the system runs (paper 003, section 2.1).
#include "sim/smr/world.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr_sim {

using namespace smr;
using std::chrono::milliseconds;

namespace {

constexpr ClientId administrator = 7;

}  // namespace

// By any member, which may not have heard of the last change of the leader. One that is down may
// have been taken for the leader.
ReplicaId World::leader_told() {
  const View& view = latest_view_;
  const Replica& asked = replica(view.members[random_.below(view.n())].id);
  return asked.up() ? asked.core().leader() : asked.id();
}

// Adds one, removes one, replaces one, or changes how many may fail, and never below one.
void World::reconfigure() {
  const View& view = latest_view_;
  std::vector<MemberInfo> others;
  for (ReplicaId id = 0; id < replicas_.size(); ++id) {
    if (!view.has(id)) others.push_back({id, concat("replica:", id), ""});
  }
  ViewChange change{.from = view.id, .remove = {}, .add = {}, .f = {}, .leader = leader_told()};
  const auto what = random_.below(4);
  if (what != 1 && !others.empty()) change.add.push_back(others[random_.below(others.size())]);
  if (what != 0) change.remove.push_back(view.members[random_.below(view.n())].id);
  const std::size_t n = view.n() + change.add.size() - change.remove.size();
  const auto most =
      static_cast<std::uint32_t>((n - 1) / (view.model == FaultModel::byzantine ? 3 : 2));
  if (most < std::max(1u, plan_.liars)) return;
  change.f = std::max(1u, plan_.liars) +
             static_cast<std::uint32_t>(random_.below(most + 1 - std::max(1u, plan_.liars)));
  trace("view ", view.id, " is to be changed: ", what, ", f = ", *change.f);
  ask_for(std::move(change));
}

void World::ask_for(ViewChange change) {
  const ViewId from = change.from;
  auto request = std::make_shared<Request>();
  request->client = administrator;
  request->sequence = ++changes_;
  request->kind = Kind::reconfigure;
  request->operation = encode(std::move(change));
  if (plan_.model == FaultModel::byzantine) {
    for (ReplicaId id = 0; id < replicas_.size(); ++id) {
      const std::uint64_t tag = keys_.tag(id, *request);
      request->proof.append(&tag, sizeof tag);
    }
  }
  ask_for(std::move(request), from, 5);
}

void World::ask_for(std::shared_ptr<const Request> change, ViewId from, int times) {
  if (times == 0 || latest_view_.id != from) return;
  for (const MemberInfo& member : latest_view_.members) {
    // From where the first client is.
    const auto arrivals = wires_.send(replicas_.size(), member.id, now_);
    for (std::size_t i = 0; i < arrivals.count; ++i) {
      queue_.put(arrivals.at[i], FromAdministrator{member.id, change});
    }
  }
  after(milliseconds(300), [this, change, from, times] { ask_for(change, from, times - 1); });
}

}  // namespace piracema::smr_sim
