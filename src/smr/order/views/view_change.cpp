#include "base/text.h"
#include "smr/order/views/reconfiguration.h"
#include "wire/fields.h"

/// What an administrator asks for.
namespace piracema::smr {

Buffer encode(ViewChange change) { return wire::encode(std::move(change)); }

Result<View> next_view(const View& now, Bytes operation) {
  auto change = wire::decode<ViewChange>(operation);
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
  for (MemberInfo& added : change->add) next.members.push_back(std::move(added));
  return validate(std::move(next));
}

}  // namespace piracema::smr
