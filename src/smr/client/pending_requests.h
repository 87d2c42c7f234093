#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "base/clock.h"
#include "smr/client/pending_request.h"
#include "smr/client/session_window.h"
#include "smr/ids.h"

namespace piracema::smr::client {

/// All requests of a client that are not answered: those of its session, those of none (`open`,
/// `reconfigure`, `admit`), and those that wait for a session, or for room in it.
class PendingRequests {
 public:
  std::uint64_t session() const { return window_.session(); }
  std::uint32_t width() const { return window_.width(); }
  bool is_empty() const { return waiting_.empty() && sessionless_.empty() && window_.is_empty(); }

  /// As SessionWindow has them.
  void open_session(std::uint64_t session, std::uint32_t width) { window_.open(session, width); }
  std::vector<PendingPtr> end_session() { return window_.end(); }

  /// Numbers it, or has it wait: then it is null. One of no session gets a number of at least
  /// `least`, which grows.
  PendingRequest* add(PendingPtr pending, Sequence least);
  /// Those of no session have higher numbers than this from now on.
  void number_above(Sequence number) { last_number_ = std::max(last_number_, number); }
  /// One that need not wait any more; null if there is none.
  PendingPtr next_waiting();
  /// Null: nobody asked for that, or it was answered.
  PendingRequest* find(std::uint64_t session, Sequence sequence);
  /// One that was found: it is answered, and its place is free.
  PendingPtr take(const PendingRequest& found);
  /// Those that change the view.
  std::vector<PendingPtr> take_changes();
  /// Those that still wait, so they were never sent.
  std::deque<PendingPtr> take_waiting();
  /// Drops those of them that are late.
  std::vector<Ticket> drop_late(Time now);

  /// All that were sent: those of no session by their numbers, then those of the session.
  template <class Visit>
  void each(Visit visit) {
    for (const auto& [number, pending] : sessionless_) visit(*pending);
    window_.each(visit);
  }

 private:
  SessionWindow window_;
  std::map<Sequence, PendingPtr> sessionless_;
  std::deque<PendingPtr> waiting_;
  /// Of the last one of no session.
  Sequence last_number_ = 0;
};

}  // namespace piracema::smr::client
