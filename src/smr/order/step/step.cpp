#include "smr/order/step/step.h"

#include "base/ensure.h"

namespace piracema::smr {

void Step::begin(Time now, std::vector<Action>& out) {
  ENSURE(now >= now_);
  now_ = now;
  out_ = &out;
}

void Step::halt(std::string why) {
  act(Halt{std::move(why)});
  halted_ = true;
}

void Step::send_others(const MessagePtr& m, bool after_log) {
  for (const MemberInfo& member : members_.view().members) {
    if (member.id != members_.me()) act(Send{member.id, m, after_log});
  }
}

void Step::send_all(const MessagePtr& m, bool after_log) {
  for (const MemberInfo& member : members_.view().members) act(Send{member.id, m, after_log});
}

}  // namespace piracema::smr
