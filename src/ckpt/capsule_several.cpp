// What the first process of a capsule does for a job of several hosts; host_group.h says when.
#include "base/clock.h"
#include "base/text.h"
#include "ckpt/capsule_init.h"
#include "ckpt/criu_run.h"
#include "ckpt/netlink.h"

namespace piracema::ckpt {

void CapsuleInit::link(const Order& order) {
  if (!overlay_) return;
  overlay_->set_peers(order.peers);
  auto netlink = Netlink::open();
  // Larger packets than the hosts' network takes are cut into pieces: slower, and right.
  if (netlink) (void)netlink->set_mtu("c0", order.mtu);
}

void CapsuleInit::proceed(bool ok) {
  given_up_ = given_up_ || !ok;
  if (!waits_at_) return;
  agreed_ = ok && *waits_at_ == HookStep::recorded;
  waits_at_.reset();
  door_->answer(ok);
}

void CapsuleInit::hear_hook() {
  const auto step = door_->hear();
  if (!step) return;
  if (given_up_) return door_->answer(false);
  waits_at_ = step;
  report(
      {.kind = *step == HookStep::frozen ? ReportKind::frozen : ReportKind::recorded, .ok = true});
}

// Nothing that the job does from here on is in the image, so packets may travel again.
void CapsuleInit::part_dumped(bool ok) {
  ok = ok || is_stopped_all_the_same();
  door_->forget();
  waits_at_.reset();
  const bool goes_on = ok && !order_.stop && !ended_;
  if (!ok || !order_.stop) overlay_->pass();
  dumped(ok);
  if (goes_on && !start_commit()) {
    report({.kind = ReportKind::sealed, .message = "the hook cannot be run"});
  }
}

}  // namespace piracema::ckpt
