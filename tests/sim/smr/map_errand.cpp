#include "sim/smr/map_errand.h"

#include "sim/smr/world.h"

namespace piracema::smr_sim {

Errand::Wish MapErrand::next(std::uint32_t number) {
  const Op op = next_op(number);
  lease_open_ |= is_lease(op);
  const std::size_t ticket = world_.oracle().called(client_, op);
  is_lease_[ticket] = is_lease(op);
  return {encode(op), op.kind == Op::Kind::get, ticket};
}

Op MapErrand::next_op(std::uint32_t number) {
  const Plan& plan = world_.plan();
  Op op{.key = 1 + random_.below(plan.keys), .client = client_, .number = number};
  if (!lease_open_ && random_.chance(plan.leases)) {
    const auto kind = static_cast<std::uint64_t>(Op::Kind::acquire) + random_.below(3);
    op.kind = static_cast<Op::Kind>(kind);
    op.value = 1'000'000 * (1 + random_.below(200));
    return op;
  }
  op.kind = static_cast<Op::Kind>(random_.below(5));
  op.value = random_.below(4);
  if (random_.chance(0.7)) op.expected = random_.below(4);
  return op;
}

void MapErrand::answered(std::size_t ticket, Bytes reply) {
  const auto answer = decode_reply(reply);
  if (!answer) return world_.oracle().complain("a reply makes no sense");
  if (is_lease_.extract(ticket).mapped()) lease_open_ = false;
  world_.oracle().answered(ticket, *answer);
}

void MapErrand::abandoned(std::size_t ticket) {
  if (is_lease_.extract(ticket).mapped()) lease_open_ = false;
  world_.oracle().abandoned(ticket);
}

}  // namespace piracema::smr_sim
