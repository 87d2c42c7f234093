#pragma once

#include <optional>
#include <vector>

#include "smr/client/client_events.h"
#include "smr/client/keyring.h"
#include "smr/client/known_group.h"
#include "smr/client/pending_reads.h"
#include "smr/client/pending_requests.h"
#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// The administrator comes as this client, without sessions.
constexpr ClientId administrator_id = 0;

namespace client {

struct Settings {
  ClientId id = 0;
  std::size_t operation_bytes_max = 0;
  Retry retry;
  /// Numbers what belongs to no session, together with the time since the machine began, in
  /// nanoseconds: more than any process of this client has used so far, so what the system's clock
  /// shows.
  Sequence first_number = 1;
  /// Drawn by each process: another one of this client may come to the same number, when both have
  /// to be above that of a third whose clock is ahead.
  std::uint64_t life = 0;
};

/// A client of a group: opens a session, finds the leader and the view, asks again, counts equal
/// replies.
///
/// A pure state machine, as Core is: told what happened, it answers what to do. No clock,
/// connection or random number inside; time comes in and never goes back. One thread.
///
/// Messages may be lost, doubled, late and in any order; who sent them is certain. Only a view
/// that a replica tells of has to arrive as long as the link is up, after those before it.
class Machine {
 public:
  /// Begin with a Tick. `keys` outlives it and takes all members of the view, whose replicas
  /// besides may know of a later one.
  Machine(const Settings& settings, View view, std::vector<MemberInfo> added, Keyring& keys);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Appends to `out` what is to be done.
  void step(Time now, Event event, std::vector<Action>& out);
  /// When to call with a Tick at the latest.
  std::optional<Time> next_deadline() const;

  const KnownGroup& group() const { return group_; }
  bool is_in_session() const { return requests_.session() != 0; }

 private:
  void on(OrderWanted& wanted);
  void on(ReadWanted& wanted);
  void on(Met& met);
  void on(StatusesWanted& wanted);
  void on(LinkUp& link);
  void on(LinkDown& link);
  void on(Heard& heard);
  void on(Tick& tick);

  void begin();
  void change_calls();
  void open_session();
  void opened(Result<Buffer> result);
  void outnumbered(Bytes result);
  bool ask_above(PendingPtr& pending, Bytes result);
  void session_lost();
  /// Of the next request of no session.
  Sequence least_number() const;

  void start(PendingPtr pending);
  void start_waiting();
  void start_read(Ticket ticket, Bytes operation, Time deadline, bool is_held);
  void order_instead(const PendingRead& read);
  /// Proves and encodes it, as it is to be sent from now on.
  void seal(PendingRequest& pending);
  void submit(const PendingRequest& pending);
  void send(const PendingRead& read);
  void send(ReplicaId to, std::uint8_t kind, std::shared_ptr<const Buffer> message);
  void send_to_all(std::uint8_t kind, const std::shared_ptr<const Buffer>& message);
  void send_all_again();

  void reply(ReplicaId from, Bytes message);
  void read_reply(ReplicaId from, Bytes message);
  void answered(PendingPtr pending, ReplyStatus status, Bytes result);
  void new_view(Bytes message);
  bool is_proven(const SignedView& next) const;
  void use_view(const View& view);
  void finish(PendingRequest& pending, Result<Buffer> result);
  void refuse_size(Ticket ticket, std::size_t bytes);

  void keep_ticking();
  void look_at_all();
  void give_up_as_stranger();

  const Settings settings_;
  Keyring& keys_;
  KnownGroup group_;
  PendingRequests requests_;
  PendingReads reads_;
  bool is_opening_ = false;

  Time now_{};
  std::optional<Time> begun_at_;
  /// When it looks at all that is not answered, and when it asks for a session again.
  std::optional<Time> look_at_, reopen_at_;
  /// Of the step that is under way.
  std::vector<Action>* out_ = nullptr;
};

}  // namespace client
}  // namespace piracema::smr
