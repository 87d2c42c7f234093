#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "smr/client/pending_request.h"
#include "smr/link/client_wire.h"
#include "smr/view.h"

namespace piracema::smr::client {

/// A read that was asked for and not answered.
struct PendingRead {
  Ticket ticket = 0;
  bool is_held = false;
  /// ReadHead and the operation, as it is sent.
  std::shared_ptr<const Buffer> message;
  Time deadline{}, next_try{};
  /// How often it was sent again.
  unsigned repeats = 0;
  Tally tally;

  /// Whoever is taken for the leader has refused it for so long that another one may lead.
  bool is_for_all() const { return repeats != 0 && repeats % 4 == 0; }
  std::uint8_t kind() const { return is_held ? hold_kind : read_kind; }
  Bytes operation() const;
};

/// What a client reads outside of the order. With crash faults the leader's answer counts. Among
/// liars a quorum has to give the same one: any two quorums share a correct replica, so what one
/// has acknowledged another one's answer does not miss.
class PendingReads {
 public:
  /// A read that was refused is sent again after `pause`.
  PendingReads(const Retry& retry, std::chrono::milliseconds pause)
      : patience_(retry.read), pause_(pause) {}

  bool is_empty() const { return reads_.empty(); }
  /// It is to be sent.
  PendingRead& add(Time now, Ticket ticket, Bytes operation, Time deadline, bool is_held);

  /// A read that is over. Without a result replicas do not agree on it: it is to be ordered; or one
  /// that was held, and there is something to tell: it is to be asked as any other.
  struct Over {
    PendingRead read;
    std::optional<Buffer> result;
  };
  std::optional<Over> hear(Time now, const View& view, ReplicaId from,
                           const HeadAndRest<ReadReplyHead>& reply);

  struct Due {
    std::vector<Ticket> late;
    std::vector<const PendingRead*> again;
    std::vector<PendingRead> to_order;
  };
  /// `again` is there until the next call of anything else.
  Due due(Time now, bool is_byzantine);
  /// All of them are over.
  std::vector<Ticket> end();
  /// What former members said does not count any more.
  void forget_answers();

  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [token, read] : reads_) visit(read);
  }

 private:
  using Place = std::unordered_map<std::uint64_t, PendingRead>::iterator;
  Over over(Place place, std::optional<Buffer> result);

  const std::chrono::milliseconds patience_, pause_;
  std::unordered_map<std::uint64_t, PendingRead> reads_;
  std::uint64_t count_ = 0;
};

}  // namespace piracema::smr::client
