#include "smr/order/views/view_change.h"

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::smr {

namespace {

/// What administrators of before asked for: logs may have it.
struct EarlierChange {
  ViewChange change;
  auto fields() { return std::tie(change.from, change.remove, change.add, change.f); }
};

Result<ViewChange> decode_change(Bytes operation) {
  auto change = wire::decode<ViewChange>(operation);
  if (change) return change;
  auto earlier = wire::decode<EarlierChange>(operation);
  if (!earlier) return change.error();
  return std::move(earlier->change);
}

}  // namespace

Buffer encode(ViewChange change) { return wire::encode(std::move(change)); }

Result<View> next_view(const View& now, Bytes operation) {
  auto change = decode_change(operation);
  if (!change) return change.error();
  if (change->from != now.id) {
    return Error{Errc::refused,
                 concat("the change is meant for view ", change->from, ", found view ", now.id)};
  }
  View next = now;
  next.id += 1;
  if (change->f) next.f = *change->f;
  for (const ReplicaId gone : change->remove) {
    if (!next.has(gone)) {
      return Error{Errc::config, concat("replica ", gone, " is to go and is not there")};
    }
    std::erase_if(next.members, [gone](const MemberInfo& member) { return member.id == gone; });
  }
  const bool leader_stays = change->leader && next.has(*change->leader);
  for (MemberInfo& added : change->add) next.members.push_back(std::move(added));
  auto valid = validate(std::move(next));
  if (valid && leader_stays) valid->begin_with(*change->leader);
  return valid;
}

}  // namespace piracema::smr
