#pragma once

#include <piracema/smr/configuration.h>
#include <piracema/smr/state_machine.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log_limit.h"
#include "smr/client/client_port.h"
#include "smr/link/door.h"
#include "smr/link/peer_links.h"
#include "smr/order/core/core.h"
#include "smr/replica/execution.h"
#include "smr/replica/known_peers.h"
#include "smr/replica/leading_term.h"
#include "smr/replica/local_client.h"
#include "smr/replica/memory_watch.h"
#include "smr/replica/peer_outbox.h"
#include "smr/replica/persistence.h"
#include "smr/replica/replica_reads.h"
#include "smr/replica/request_flood.h"
#include "smr/replica/self_report.h"
#include "smr/service/executor/thrift.h"

namespace piracema::smr {

/// One replica of a group, with all that the core has to be driven by: sockets, clock, disk and
/// threads. One thread orders: it reads whatever has come, lets the core look at all of it, and
/// then writes once to each socket; another makes the log durable; others execute, if asked to.
///
/// This is the loop, and the way of each event and action. Who is known is KnownPeers's; what is
/// kept Persistence's; what leaves PeerOutbox's; reads, memories and figures have theirs.
class ReplicaNode {
 public:
  /// What `start` wants to know beside the configuration.
  struct Place {
    ReplicaId id = 0;
    KeyPair key;
    /// Where it keeps what it must not forget; for it alone. Made if need be.
    std::string directory;
    /// The group is new: an empty directory is as it should be, and not one that was lost.
    bool first_start = false;
    /// As in ReplicaOptions.
    std::string began_file = {};
    /// In place of its address in the configuration.
    std::string listen = {};
    /// Execution by clients' groups.
    std::optional<ConflictGroups> groups = {};
    /// What execution threads are taken to cost; for measurements and tests of them.
    Prices prices = {};
    /// As in ReplicaOptions.
    std::function<void(std::uint64_t term)> leads = {};
    std::function<void()> leads_no_longer = {};
    std::function<void(std::uint64_t instance)> applied = {};
    std::function<void(const ReplicaFigures&)> figures = {};
    /// Of operations of this process.
    std::chrono::milliseconds operation_timeout{10'000};
    /// For tests of what the others do then: what this replica says to `to` in place of a message,
    /// null for nothing; and what it replies in place of what is right.
    std::function<MessagePtr(ReplicaId to, const MessagePtr&)> distort = {};
    std::function<Reply(const Reply&)> distort_reply = {};
  };

  /// Reads what the directory has, and listens. `machine` is as new; it outlives the node.
  /// Errc::config for a configuration that is wrong, or whose replica `id` has another key; the
  /// errors of the storage and of the address.
  static Result<std::unique_ptr<ReplicaNode>> start(const Configuration& configuration, Place place,
                                                    StateMachine& machine);
  ~ReplicaNode();
  ReplicaNode(const ReplicaNode&) = delete;
  ReplicaNode& operator=(const ReplicaNode&) = delete;

  /// Takes part until `stop`, or until the group is without it. Errc::config when others remember
  /// it with another memory (PeerLives), Errc::io when the disk does not keep what it is given,
  /// Errc::lost or failed when the core gives up: the message says why.
  Result<Done> run();
  /// Any thread.
  void stop();

  /// An operation of this process (LocalClient). Any thread; `done` is called on that of `run`.
  void invoke(bool ordered, Bytes operation, Invoker::Callback done);

 private:
  static constexpr std::chrono::milliseconds port_tick_interval{100};
  /// Of clients and strangers, before members are read again and the core looks at what came.
  static constexpr std::chrono::milliseconds clients_time{5};
  /// One that was removed tells clients until then who the members are now.
  static constexpr std::chrono::seconds leave_time{2};

  ReplicaNode(const Configuration& configuration, Place place, StateMachine& machine);
  Result<Done> prepare();
  Result<Done> start_service();
  Result<Done> restore(Instance instance, Buffer image);
  Result<Done> listen();
  ClientPort::Host clients_host();
  Door::Host door_host();
  MemoryWatch::Host memory_host();

  void meet_members();
  void admit(const std::vector<Admission>& some);
  void welcome(std::shared_ptr<Link> link);
  void submit(Request request);
  void submit_own(Request request);
  void answer_again(Request request, std::function<void(Request)> submit);
  void read(std::uint64_t token, Buffer operation);
  void answer_read(std::uint64_t token, bool known, Bytes result);
  void received(ReplicaId from, std::uint8_t kind, Bytes message);
  void link_changed(ReplicaId peer, bool up);

  void step_all();
  void step(Event event);
  void tell_standing();
  void recall_views();
  void fail(Error why);
  std::chrono::milliseconds time_to_wait() const;

  void act(Persist&);
  void act(Send&);
  void act(Execute&);
  void act(ReadNow&);
  void act(Refuse&);
  void act(TakeCheckpoint&);
  void act(Truncate&);
  void act(SendChunk&);
  void act(StoreChunk&);
  void act(LoadCheckpoint&);
  void act(TellTrail&);
  void act(UseView&);
  void act(Note&);
  void act(Halt&);

  const Configuration configuration_;
  const Place place_;
  const Self self_;
  StateMachine& machine_;
  net::Poller poller_;
  FlushList flush_list_;
  ReadTurns turns_;
  KnownPeers known_;
  LeadingTerm leading_;
  std::unique_ptr<Persistence> kept_;
  std::unique_ptr<MemoryWatch> memory_;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<ReplicaReads> reads_;
  std::unique_ptr<ClientPort> clients_;
  LocalClient own_;
  std::unique_ptr<PeerLinks> peers_;
  std::unique_ptr<PeerOutbox> outbox_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<SelfReport> report_;
  std::unique_ptr<Door> door_;

  /// What came and is not looked at.
  std::vector<Event> inbox_, looked_at_;
  std::vector<Action> actions_;
  /// Once it was removed.
  std::optional<Time> leave_at_;
  std::optional<Error> failure_;
  std::atomic<bool> stopped_ = false;
  Time port_tick_{};
  RequestFlood flood_;
  LogLimit nonsense_;
};

}  // namespace piracema::smr
