#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "smr/client/client_machine.h"
#include "smr/link/authenticator.h"
#include "smr/link/caller.h"
#include "smr/view.h"

namespace piracema::smr {

/// The view that a configuration begins with; and who may have come since.
View view_of(const Configuration& configuration);
std::vector<MemberInfo> added_in(const Configuration& configuration);

/// A client without a thread of its own: does what a client::Machine says, with a poller's time and
/// connections. Belongs to the poller's thread; the flush list is flushed by its owner, once for
/// all that was asked meanwhile.
class ClientEngine {
 public:
  /// Called once, on the poller's thread, never from within the call that asked. Errors: those of
  /// client::Answer.
  using Done = std::function<void(Result<Buffer>)>;
  using Retry = client::Retry;

  ClientEngine(net::Poller& poller, FlushList& flush_list, const Configuration& configuration,
               ClientId id, const KeyPair& key, const Retry& retry);
  /// What is under way is given up.
  ~ClientEngine();
  ClientEngine(const ClientEngine&) = delete;
  ClientEngine& operator=(const ClientEngine&) = delete;

  /// `kind` is ordered or parallel; an administrator's, admit or reconfigure. The last is done
  /// when the view has changed, in whatever way.
  void order(Kind kind, std::uint32_t group, Buffer operation, Time deadline, Done done);
  /// Linearizable, without a place in the order where that can be had.
  void read(Buffer operation, Time deadline, Done done);

  /// As `read`, once there is something to tell: replicas hold it for as long (Watchable).
  void hold(Buffer operation, Time deadline, Done done);

  /// Ends the session, then calls; what is under way is given up.
  void close(Time deadline, std::function<void()> done);

  const View& view() const { return group().view(); }
  /// Calls these as well, who are no members, or not yet.
  void meet(const std::vector<MemberInfo>& some) { step(client::Met{some}); }
  /// Asks all that it is connected to what they are; `statuses` has what they said, until their
  /// connections end.
  void ask_statuses() { step(client::StatusesWanted{}); }
  const std::map<ReplicaId, StatusTold>& statuses() const { return group().statuses(); }
  /// Why that one cannot be reached; empty if it can, or nothing is known.
  std::string trouble_with(ReplicaId replica) const { return group().trouble_with(replica); }
  /// How many of its members say that it has begun, and know of no later one.
  std::size_t arrived() const { return group().arrived(); }
  bool has_arrived(ReplicaId member) const { return group().has_arrived(member); }
  /// nullopt while no replica has told.
  std::optional<Standing> standing() const { return group().standing(); }
  std::optional<ReplicaId> believed_leader() const { return group().believed_leader(); }
  /// How many of them this client is connected to.
  std::size_t links() const { return group().links(); }
  /// For people: why replicas cannot be reached; empty if all are.
  std::string trouble() const { return group().trouble(); }

 private:
  /// With the client's own key.
  class Keys final : public client::Keyring {
   public:
    Keys(const KeyPair& key, FaultModel model) : prover_(key, model) {}
    Result<piracema::Done> use_members(const std::vector<MemberInfo>& members) override;
    void prove(Request& request) override { prover_.prove(request); }
    bool verify(const MemberInfo& signer, Bytes what, Bytes signature) const override;

   private:
    RequestProver prover_;
  };

  const client::KnownGroup& group() const { return machine_.group(); }
  client::Ticket ticket_for(Done done);
  void step(client::Event event);
  /// For what happens outside of a call of the owner's: answers are told at once.
  void happened(client::Event event);
  void tell_answers();
  void change_calls();
  void call(const MemberInfo& replica);
  void plan_tick();
  /// Later, but in this turn of the poller.
  void soon();

  void act(client::Send& send);
  void act(client::Answer& answer) { answers_.push_back(std::move(answer)); }
  void act(client::Connect& connect) { calls_.emplace_back(std::move(connect)); }
  void act(client::Disconnect& disconnect) { calls_.emplace_back(disconnect); }

  net::Poller& poller_;
  FlushList& flush_list_;
  const Self self_;
  Keys keys_;
  client::Machine machine_;
  std::map<ReplicaId, std::unique_ptr<Caller>> callers_;
  /// Who waits for what.
  std::unordered_map<client::Ticket, ClientEngine::Done> waiting_;
  client::Ticket tickets_ = 0;
  std::vector<client::Action> actions_;
  /// What was decided and is to be done outside of the call that led to it.
  std::deque<client::Answer> answers_;
  std::deque<std::variant<client::Connect, client::Disconnect>> calls_;
  std::optional<net::Poller::Timer> tick_, soon_;
  std::optional<Time> tick_at_;
};

}  // namespace piracema::smr
