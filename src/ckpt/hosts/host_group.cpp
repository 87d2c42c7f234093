#include "ckpt/hosts/host_group.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::ckpt {

HostGroup::HostGroup(std::size_t hosts) : parts_(hosts) { ENSURE(hosts > 0); }

std::vector<GroupAction> HostGroup::take() { return std::exchange(actions_, {}); }

void HostGroup::enter(Phase phase) {
  phase_ = phase;
  for (Part& part : parts_) part.here = false;
}

bool HostGroup::arrive(HostNumber host) {
  parts_[host].here = true;
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.here; });
}

std::vector<GroupAction> HostGroup::open() {
  ENSURE(phase_ == Phase::closed);
  enter(Phase::opening);
  for (HostNumber host = 0; host < parts_.size(); ++host) act(OpenHost{host});
  return take();
}

// Restored connections meet before they speak: a packet for a socket that is not there yet would
// be answered by a reset. So links stay held until all parts are there.
std::vector<GroupAction> HostGroup::launch(bool restore) {
  ENSURE(phase_ == Phase::ready);
  enter(restore ? Phase::restoring : Phase::starting_others);
  for (HostNumber host = restore ? 0 : 1; host < parts_.size(); ++host)
    act(StartHost{host, restore});
  if (!restore) on(HostStarted{0, true, {}});  // The first one waits for the others.
  return take();
}

std::vector<GroupAction> HostGroup::dump(bool stop) {
  ENSURE(phase_ == Phase::running);
  stop_ = stop;
  published_ = false;
  why_.clear();
  passing_ = false;
  for (Part& part : parts_) part = {};
  enter(Phase::holding);
  for (HostNumber host = 0; host < parts_.size(); ++host) act(HoldHost{host});
  return take();
}

std::vector<GroupAction> HostGroup::step(const GroupEvent& event) {
  if (phase_ != Phase::over) std::visit([this](const auto& e) { on(e); }, event);
  return take();
}

void HostGroup::on(const HostReady& event) {
  if (phase_ != Phase::opening || !arrive(event.host)) return;
  enter(Phase::ready);
  act(LinkHosts{});
  act(GroupReady{});
}

void HostGroup::on(const HostStarted& event) {
  const bool starting = phase_ == Phase::starting_others || phase_ == Phase::starting_first ||
                        phase_ == Phase::restoring;
  if (!starting) return;
  if (!event.ok) {
    enter(Phase::over);
    return act(GroupStarted{false, event.why});
  }
  if (phase_ == Phase::starting_first) {
    enter(Phase::running);
    return act(GroupStarted{true, {}});
  }
  if (!arrive(event.host)) return;
  for (HostNumber host = 0; host < parts_.size(); ++host) act(PassHost{host});
  if (phase_ == Phase::restoring) {
    enter(Phase::running);
    return act(GroupStarted{true, {}});
  }
  enter(Phase::starting_first);
  act(StartHost{0, false});
}

void HostGroup::on(const HostHeld& event) {
  if (phase_ != Phase::holding || !arrive(event.host)) return;
  enter(Phase::freezing);
  for (HostNumber host = 0; host < parts_.size(); ++host) act(DumpHost{host, stop_});
}

void HostGroup::proceed() {
  for (HostNumber host = 0; host < parts_.size(); ++host) act(ProceedHost{host, true});
}

void HostGroup::on(const HostFrozen& event) {
  if (phase_ != Phase::freezing || !arrive(event.host)) return;
  enter(Phase::recording);
  proceed();
}

void HostGroup::on(const HostRecorded& event) {
  if (phase_ != Phase::recording || !arrive(event.host)) return;
  if (stop_) {
    enter(Phase::publishing);
    return act(Publish{});
  }
  enter(Phase::leaving);
  proceed();
}

void HostGroup::on(const Published& event) {
  if (phase_ != Phase::publishing) return;
  published_ = event.ok;
  if (!event.ok && why_.empty()) why_ = event.why;
  if (!stop_) return finish_dump(event.ok);
  if (!event.ok) return give_up(event.why);
  enter(Phase::leaving);
  proceed();
  look_whether_done();
}

// What was saved cannot be used; those who wait are thawed, and those who come to wait will be.
void HostGroup::give_up(const std::string& why) {
  if (why_.empty()) why_ = why;
  if (phase_ == Phase::giving_up) return;
  enter(Phase::giving_up);
  for (HostNumber host = 0; host < parts_.size(); ++host) {
    if (!parts_[host].dumped) act(ProceedHost{host, false});
  }
  look_whether_done();
}

void HostGroup::on(const HostDumped& event) {
  if (!in_dump()) return;
  Part& part = parts_[event.host];
  part.dumped = true;
  part.dumped_well = event.ok;
  // The image is complete by then: that criu stumbles over its dead is no matter.
  if (!event.ok && !published_) {
    if (why_.empty()) {
      why_ = event.why;
      passing_ = event.passing;
    }
    if (phase_ == Phase::freezing || phase_ == Phase::recording) return give_up(event.why);
  }
  look_whether_done();
}

void HostGroup::on(const HostSealed& event) {
  if (!in_dump() || stop_) return;
  parts_[event.host].sealed = true;
  if (!event.ok && why_.empty()) why_ = event.why;
  look_whether_done();
}

bool HostGroup::in_dump() const { return phase_ >= Phase::freezing && phase_ <= Phase::giving_up; }

void HostGroup::look_whether_done() {
  const bool giving_up = phase_ == Phase::giving_up;
  if (!giving_up && phase_ != Phase::leaving && phase_ != Phase::sealing) return;
  for (const Part& part : parts_) {
    if (!part.dumped) return;
    if (!giving_up && !stop_ && part.dumped_well && !part.sealed) return;
  }
  if (giving_up || !why_.empty()) return finish_dump(published_);
  if (stop_) return finish_dump(true);
  enter(Phase::publishing);
  act(Publish{});
}

void HostGroup::finish_dump(bool ok) {
  enter(ok && stop_ ? Phase::over : Phase::running);
  act(GroupDumped{ok, ok ? "" : why_, !ok && passing_});
}

void HostGroup::on(const HostEnded& event) {
  if (stop_ && published_) return;  // That is what it was told to do.
  if (event.host != 0) return die("what runs the job's processes there has ended");
  enter(Phase::over);
  act(GroupEnded{event.status});
}

void HostGroup::on(const HostLost& event) {
  // Its part of the image is durable: the job has stopped all the same.
  if (stop_ && published_) return on(HostDumped{event.host, true, {}});
  die(event.why);
}

void HostGroup::die(std::string why) {
  enter(Phase::over);
  act(GroupDied{std::move(why)});
}

}  // namespace piracema::ckpt
