// What the first process of a capsule does for a job of several hosts; host_group.h says when.
#include "base/clock.h"
#include "base/text.h"
#include "ckpt/capsule/capsule_init.h"
#include "ckpt/capsule/criu_run.h"
#include "ckpt/network/netlink.h"

namespace piracema::ckpt {

void CapsuleInit::link(const Order& order) {
  if (!overlay_) return;
  overlay_->set_peers(order.peers);
  auto netlink = Netlink::open();
  // Larger packets than the hosts' network takes are cut into pieces: slower, and right.
  if (netlink) (void)netlink->set_mtu("c0", order.mtu);
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
