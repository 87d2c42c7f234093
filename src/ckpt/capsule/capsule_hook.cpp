// What the first process of a capsule says to a hook that waits (hook_door.h).
#include "ckpt/capsule/capsule_init.h"

namespace piracema::ckpt {

void CapsuleInit::forget_hook() {
  waits_at_.reset();
  given_up_ = agreed_ = false;
  door_->forget();
}

void CapsuleInit::proceed(bool ok) {
  given_up_ = given_up_ || !ok;
  agreed_ = ok && (order_.kind == OrderKind::restore || waits_at_ == HookStep::recorded);
  if (!waits_at_) return;
  waits_at_.reset();
  door_->answer(ok);
}

void CapsuleInit::hear_hook() {
  const auto step = door_->hear();
  if (!step) return;
  if (given_up_) return door_->answer(false);
  // The image may have been checked before criu was done.
  if (*step == HookStep::filled && agreed_) return door_->answer(true);
  waits_at_ = step;
  if (*step == HookStep::filled) return;
  report(
      {.kind = *step == HookStep::frozen ? ReportKind::frozen : ReportKind::recorded, .ok = true});
}

}  // namespace piracema::ckpt
