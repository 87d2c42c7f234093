#pragma once

#include <piracema/smr/configuration.h>
#include <piracema/smr/state_machine.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log_limit.h"
#include "base/work_queue.h"
#include "smr/client/client_port.h"
#include "smr/link/authenticator.h"
#include "smr/link/door.h"
#include "smr/link/peer_links.h"
#include "smr/order/core/core.h"
#include "smr/replica/execution.h"
#include "smr/replica/held_reads.h"
#include "smr/replica/local_client.h"
#include "smr/replica/peer_lives.h"
#include "smr/replica/work_count.h"
#include "smr/service/executor/thrift.h"
#include "smr/storage/log_writer.h"
#include "smr/storage/shelf.h"
#include "smr/storage/storage.h"
#include "store/disk/directory_disk.h"

namespace piracema::smr {

/// One replica of a group, with all that the core has to be driven by: sockets, clock, disk and
/// threads. One thread orders: it reads whatever has come, lets the core look at all of it, and
/// then writes once to each socket; another makes the log durable; others execute, if asked to.
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
  static constexpr std::chrono::seconds figures_interval{1};
  /// Of clients and strangers, before members are read again and the core looks at what came.
  static constexpr std::chrono::milliseconds clients_time{5};
  /// What clients had asked for at once, so that what is free of it later goes back to the system.
  static constexpr std::size_t much_bytes = std::size_t{8} << 20;
  /// One that was removed tells clients until then who the members are now.
  static constexpr std::chrono::seconds leave_time{2};

  ReplicaNode(const Configuration& configuration, Place place, StateMachine& machine);
  Result<Done> prepare();
  Result<Recovered> open_storage(const View& view);
  Result<Done> restore(const Recovered& recovered, Buffer image);
  /// Calls `work` on the disk's thread and `then`, with its result, here. Any thread.
  template <class Work, class Then>
  void on_disk(Work work, Then then);
  Result<Done> listen();

  std::optional<PublicKey> key_of(const PeerName& name) const;
  /// Whom this replica speaks to, itself included: members of the view and of the newest one that
  /// was proven, and whom the configuration says to have been added.
  std::vector<MemberInfo> reachable() const;
  void meet_members();
  Result<Done> use_peers(const std::vector<MemberInfo>& members);
  void admit(const std::vector<Admission>& some);
  bool admit_learner(const Admission& one);
  void welcome(std::shared_ptr<Link> link);
  void submit(Request request);
  void submit_own(Request request);
  void answer_again(Request request, std::function<void(Request)> submit);
  void read(std::uint64_t token, Buffer operation);
  void look_at_held_reads(Time time);
  void answer_read(std::uint64_t token, bool known, Bytes result);
  void know_processes(const std::vector<MemberInfo>& members);
  void received(ReplicaId from, std::uint8_t kind, Bytes message);
  void link_changed(ReplicaId peer, bool up);
  void tell_life(ReplicaId to);
  void heard_life(ReplicaId from, Bytes bytes);
  void heard_refusal(ReplicaId from, Bytes bytes);
  void read_lives();
  void write_lives();
  void watch_memory(Time time);
  StatusTold status() const;
  void tell_figures(Time time);
  void to_self(MessagePtr message);

  void step_all();
  void step(Event event);
  void tell_standing();
  void tell_leading();
  void recall_views();
  void give_memory_back();
  void release_held();
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
  void send_now(ReplicaId to, const MessagePtr& message);

  const Configuration configuration_;
  const Place place_;
  const Self self_;
  StateMachine& machine_;
  net::Poller poller_;
  FlushList flush_list_;
  ReadTurns turns_;
  KeyAuthenticator authenticator_;
  /// Checkpoints, where nothing is kept on disk; else the storage has them.
  Shelf shelf_;
  std::unique_ptr<store::DirectoryDisk> disk_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<WorkQueue> disk_thread_;
  std::uint64_t next_record_ = 1;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<ClientPort> clients_;
  LocalClient own_;
  /// The replicas whose processes are known as clients.
  std::set<ReplicaId> processes_;
  std::unique_ptr<PeerLinks> peers_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Door> door_;
  /// Null where nothing has to be durable.
  std::unique_ptr<LogWriter> log_;
  std::uint64_t durable_ = 0;

  /// What came and is not looked at.
  std::vector<Event> inbox_, looked_at_;
  std::vector<Action> actions_;
  struct Held {
    std::uint64_t after = 0;
    ReplicaId to = 0;
    MessagePtr message;
  };
  /// What leaves when the log is durable so far.
  std::deque<Held> held_;
  std::map<std::uint64_t, Buffer> reads_;
  HeldReads held_reads_;
  /// The last message that was encoded: it goes to several.
  MessagePtr encoded_of_;
  EncodedMessage encoded_;

  /// Replicas that are to be added, and are let in to fetch the state; without an address.
  std::map<ReplicaId, MemberInfo> learners_;
  /// The one that rules, and the last that members of the one before have signed.
  View view_, newest_view_;
  bool was_member_ = false;
  /// Once it was removed.
  std::optional<Time> leave_at_;
  /// Of the memory of this replica, and of the others'.
  std::uint64_t life_ = 0;
  bool lost_memory_ = false, was_silent_ = false;
  PeerLives lives_;
  Time memory_said_at_{};
  LogLimit memory_lines_;
  /// Where members are to be reached.
  std::set<std::string> member_hosts_;
  /// The term in which this replica leads, as it has said.
  std::optional<std::uint64_t> leading_;
  std::optional<Error> failure_;
  WorkCount count_;
  Time figures_told_{};
  std::atomic<bool> stopped_ = false;
  Time port_tick_{};
  std::size_t clients_bytes_most_ = 0;
  LogLimit nonsense_;
};

}  // namespace piracema::smr
