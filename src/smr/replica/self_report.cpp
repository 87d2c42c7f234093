#include "smr/replica/self_report.h"

#include <algorithm>
#include <tuple>

namespace piracema::smr {

namespace {
constexpr std::chrono::seconds figures_interval{1};
}  // namespace

StatusTold SelfReport::status() const {
  StatusTold told;
  told.view = core_.view().id;
  told.regency = core_.regency();
  told.leader = core_.leader();
  told.decided = core_.decided();
  told.is_member = known_.is_member();
  told.silent = core_.is_silent();
  told.clients = clients_.links();
  std::tie(told.pieces, told.pieces_of) = core_.fetched();
  for (const MemberInfo& member : known_.view().members) {
    if (member.id != settings_.me && peers_.is_up(member.id)) told.connected.push_back(member.id);
  }
  std::sort(told.connected.begin(), told.connected.end());
  return told;
}

void SelfReport::tick(Time now) {
  if (!settings_.figures || now - told_at_ < figures_interval) return;
  told_at_ = now;
  const StatusTold told = status();
  ReplicaFigures figures = work_.figures(now);
  figures.own = {.id = settings_.me,
                 .address = settings_.address,
                 .view = told.view,
                 .regency = told.regency,
                 .leader = told.leader,
                 .decided = told.decided,
                 .is_member = told.is_member,
                 .silent = told.silent,
                 .clients = told.clients,
                 .connected = told.connected,
                 .pieces = told.pieces,
                 .pieces_of = told.pieces_of};
  const View& view = core_.view();
  for (std::size_t i = 0; i < view.members.size(); ++i) {
    const MemberInfo& member = view.members[i];
    const bool me = member.id == settings_.me;
    figures.members.push_back({.id = member.id,
                               .address = member.address,
                               .connected = me || peers_.is_up(member.id),
                               .newest = me ? told.decided : core_.heard_of(i)});
  }
  std::sort(figures.members.begin(), figures.members.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  figures.quorum = static_cast<std::uint32_t>(view.quorum());
  figures.leads = core_.leads();
  figures.waiting = core_.waiting_requests();
  settings_.figures(figures);
}

}  // namespace piracema::smr
