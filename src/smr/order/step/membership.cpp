#include "smr/order/step/membership.h"

#include <utility>

namespace piracema::smr {

Membership::Membership(ReplicaId me, View view) : me_(me), view_(std::move(view)) {
  own_ = index_of(me_);
}

std::optional<std::size_t> Membership::index_of(ReplicaId id) const {
  for (std::size_t i = 0; i < view_.n(); ++i) {
    if (view_.members[i].id == id) return i;
  }
  return std::nullopt;
}

void Membership::use(View view, Instance first) {
  view_ = std::move(view);
  first_ = first;
  own_ = index_of(me_);
}

}  // namespace piracema::smr
