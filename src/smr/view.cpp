#include "smr/view.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace piracema::smr {

std::size_t View::quorum() const {
  const std::size_t liars = model == FaultModel::byzantine ? f : 0;
  return (n() + liars) / 2 + 1;
}

bool View::has(ReplicaId who) const {
  return std::any_of(members.begin(), members.end(),
                     [who](const MemberInfo& member) { return member.id == who; });
}

void View::begin_with(ReplicaId leader) {
  const auto first = std::find_if(members.begin(), members.end(),
                                  [leader](const MemberInfo& one) { return one.id == leader; });
  std::rotate(members.begin(), first, members.end());
}

Result<View> validate(View view) {
  const auto wrong = [](std::string what) { return Error{Errc::config, std::move(what)}; };
  if (view.members.empty()) return wrong("the view has no members");
  const bool liars = view.model == FaultModel::byzantine;
  const std::uint64_t needed = (liars ? 3 : 2) * std::uint64_t{view.f} + 1;
  if (view.n() < needed) {
    return wrong(concat("f = ", view.f, liars ? " Byzantine" : " crash", " faults need ", needed,
                        " replicas, the view has ", view.n()));
  }
  std::sort(view.members.begin(), view.members.end(),
            [](const MemberInfo& a, const MemberInfo& b) { return a.id < b.id; });
  std::set<std::string> addresses;
  for (std::size_t i = 0; i < view.n(); ++i) {
    const MemberInfo& member = view.members[i];
    if (i > 0 && view.members[i - 1].id == member.id) {
      return wrong(concat("two replicas have the identity ", member.id));
    }
    if (!addresses.insert(member.address).second) {
      return wrong(concat("two replicas have the address ", member.address));
    }
  }
  return view;
}

}  // namespace piracema::smr
