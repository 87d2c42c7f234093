#include "control/coordinator/members/members.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

namespace {

// A slot whose processes end before they join is tried again at once, then less and less often.
constexpr milliseconds start_pause{50}, start_pause_max{1'000};

milliseconds pause_before_start(std::uint32_t failed_starts) {
  if (failed_starts < 2) return milliseconds{0};
  return std::min(start_pause * (1u << std::min(failed_starts - 2, 8u)), start_pause_max);
}

}  // namespace

Members::Members(Journal& journal)
    : journal_(journal), members_(journal.metadata().incarnations.size()) {}

Member* Members::find(Slot slot, std::uint32_t incarnation) {
  if (slot >= members_.size()) return nullptr;
  Member& member = members_[slot];
  const bool is_it =
      this->incarnation(slot) == incarnation && member.state() != Member::State::absent;
  return is_it ? &member : nullptr;
}

bool Members::any(Member::State state) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return member.state() == state; });
}

bool Members::all_joined() const {
  return std::all_of(members_.begin(), members_.begin() + active(),
                     [](const Member& member) { return member.state() == Member::State::joined; });
}

bool Members::all_ready() const {
  return std::all_of(members_.begin(), members_.begin() + active(),
                     [](const Member& member) { return member.is_ready(); });
}

bool Members::all_wanted_joined() const {
  return std::all_of(members_.begin(), members_.begin() + journal_.metadata().slots_wanted(),
                     [](const Member& member) { return member.state() == Member::State::joined; });
}

std::vector<Slot> Members::take_over() {
  std::vector<Slot> detached;
  const Slot wanted = journal_.metadata().slots_wanted();
  for (Slot slot = 0; slot < wanted; ++slot) {
    members_[slot].detach();
    detached.push_back(slot);
  }
  // Whether those that were let go have left nobody knows.
  for (Slot slot = wanted; slot < members_.size(); ++slot) {
    journal_.decide(ProcessReplaced{slot, incarnation(slot), true});
  }
  return detached;
}

std::vector<Slot> Members::spawn(Time now) {
  std::vector<Slot> started;
  for (Slot slot = 0; slot < journal_.metadata().slots_wanted(); ++slot) {
    Member& member = members_[slot];
    if (member.state() != Member::State::absent || now < member.due().value_or(Time{})) continue;
    if (journal_.settings().can_spawn) journal_.act(Spawn{slot, incarnation(slot)});
    member.start();
    note_due(slot);
    started.push_back(slot);
  }
  return started;
}

void Members::kill(Slot slot) { journal_.act(Kill{slot, incarnation(slot)}); }

void Members::let_go(Slot slot, Time by) {
  Member& member = members_[slot];
  if (member.state() == Member::State::absent || member.state() == Member::State::ending) return;
  if (member.state() == Member::State::joined) {
    send(slot, runtime::Shutdown{0, ""});
  } else {
    kill(slot);
  }
  member.end(by);
  note_due(slot);
}

void Members::end(Slot slot, Time given_up_at, LossCause cause) {
  if (journal_.settings().can_spawn) kill(slot);
  members_[slot].end(given_up_at, cause);
  note_due(slot);
}

void Members::left(Slot slot, Time now, bool gone) {
  Member& member = members_[slot];
  journal_.decide(ProcessReplaced{slot, incarnation(slot), !gone});
  member.leave(now + pause_before_start(member.failed_starts()));
  note_due(slot);
}

void Members::gone(Slot slot, std::uint32_t incarnation) {
  const auto& may_live = journal_.metadata().may_live;
  const bool known =
      std::find(may_live.begin(), may_live.end(), ProcessId{slot, incarnation}) != may_live.end();
  if (known) journal_.decide(ProcessGone{slot, incarnation});
}

void Members::send(Slot slot, runtime::ToWorker message) {
  journal_.act(Send{slot, incarnation(slot), std::move(message)});
}

void Members::send_away(Slot slot, std::uint32_t incarnation) {
  journal_.act(Send{slot, incarnation,
                    runtime::Shutdown{1, "its place in the job was given to another process"}});
}

std::vector<runtime::Peer> Members::peers() const {
  std::vector<runtime::Peer> peers;
  for (Slot slot = 0; slot < active(); ++slot) {
    peers.push_back({slot, incarnation(slot), members_[slot].address()});
  }
  return peers;
}

std::vector<Slot> Members::may_live() const {
  std::vector<Slot> slots;
  for (const ProcessId& process : journal_.metadata().may_live) slots.push_back(process.slot);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

void Members::note_due(Slot slot) {
  if (members_[slot].due()) {
    due_.insert(slot);
  } else {
    due_.erase(slot);
  }
}

std::optional<Time> Members::next_due(bool may_spawn) const {
  std::optional<Time> next;
  for (const Slot slot : due_) {
    const Member& member = members_[slot];
    const bool waits = member.state() == Member::State::absent;
    if (waits && (!may_spawn || slot >= journal_.metadata().slots_wanted())) continue;
    if (!next || *member.due() < *next) next = member.due();
  }
  return next;
}

}  // namespace piracema::cluster
