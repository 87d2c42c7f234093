#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "smr/client/pending_request.h"
#include "smr/ids.h"

namespace piracema::smr::client {

/// A session of a client: numbers its requests, and keeps those that are not answered. Replicas
/// remember so many replies of a session, so a request that far ahead of one without an answer has
/// to wait.
class SessionWindow {
 public:
  /// 0: there is none.
  std::uint64_t session() const { return session_; }
  std::uint32_t width() const { return width_; }
  bool has_room() const { return session_ != 0 && next_ < oldest_ + width_; }
  bool is_empty() const { return oldest_ == next_; }

  /// `width` is bounded here; neither is 0. What was in another session is gone.
  void open(std::uint64_t session, std::uint32_t width);
  /// There is none any more; what was not answered in it, the oldest first.
  std::vector<PendingPtr> end();

  /// Gives it the session and the next number. There is room.
  PendingRequest& add(PendingPtr pending);
  /// Null: nobody asked for that, or it was answered.
  PendingRequest* find(std::uint64_t session, Sequence sequence);
  /// One that was found: it is answered, and its place is free.
  PendingPtr take(const PendingRequest& found);

  /// All that are not answered, the oldest first.
  template <class Visit>
  void each(Visit visit) {
    for (Sequence sequence = oldest_; sequence < next_; ++sequence) {
      if (const PendingPtr& pending = slot(sequence)) visit(*pending);
    }
  }

 private:
  PendingPtr& slot(Sequence sequence) { return slots_[sequence % width_]; }

  std::uint64_t session_ = 0;
  std::uint32_t width_ = 0;
  Sequence next_ = 1;
  /// All below are answered.
  Sequence oldest_ = 1;
  /// By sequence modulo the width.
  std::vector<PendingPtr> slots_;
};

}  // namespace piracema::smr::client
