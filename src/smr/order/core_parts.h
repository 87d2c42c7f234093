#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "smr/mutant.h"
#include "smr/order/amnesia.h"
#include "smr/order/binding.h"
#include "smr/order/checkpoints.h"
#include "smr/order/consensus.h"
#include "smr/order/core.h"
#include "smr/order/decided_log.h"
#include "smr/order/milestones.h"
#include "smr/order/reconfiguration.h"
#include "smr/order/regencies.h"
#include "smr/order/request_pool.h"
#include "smr/order/state_transfer.h"

/// What the files of the core share; nobody else includes it.
namespace piracema::smr {

/// A member of the view: its identity, and its place there.
struct Sender {
  ReplicaId id = 0;
  std::size_t index = 0;
};

/// Instances that stay in memory after they were decided, for replicas that missed a message.
constexpr Instance kept_decided = 64;

struct Core::Parts {
  Parts(Settings settings, ReplicaId me, const Authenticator& auth, Recovered recovered);

  // ---- core.cpp: what comes in, and time ------------------------------------------------------
  void step(Time now, Event& event, std::vector<Action>& out);
  void on(Received&);
  void on(Submitted&);
  void on(ReadAsked&);
  void on(Executed&);
  void on(CheckpointTaken&);
  void on(CheckpointLoaded&);
  void on(LinkLost&);
  void on(Tick&);
  std::optional<Time> next_deadline() const;
  void start();
  void watch_leader();
  void expire_requests();

  // ---- core_recovery.cpp: the log of a former life --------------------------------------------
  void recover();
  bool replayable(Instance instance) const;
  void replay(ProposalTaken&);
  void replay(ProposalRepeated&);
  void replay(ValueCertified&);
  void replay(RegencyEntered&);
  void replay(InstanceDecided&);
  void replay(ProofKept&);
  void replay(StopSaid&);
  void replay(MemoryRegained&);
  void replay(ViewScheduled&);
  void replay(CheckpointStable&);
  void replay(ViewSigned&);

  // ---- core_propose.cpp: what a leader does ---------------------------------------------------
  bool can_propose() const;
  void propose();
  /// Null if it is bound and not here yet.
  BatchPtr batch_for(Instance instance);
  void beat();
  /// The batch is proposed again: nothing of it twice, and no time before its.
  void reserve(const BatchPtr& batch);

  // ---- core_normal.cpp: from a proposal to a decision -----------------------------------------
  void handle(Sender from, const Propose&);
  void handle(Sender from, const Write&);
  void handle(Sender from, const Accept&);
  void handle(Sender from, const Forward&);
  void handle(Sender from, const Heartbeat&);
  /// Votes for the proposal that is held there, if everything is right with it.
  void consider(Instance instance, Consensus&);
  bool verified(const Batch& batch) const;
  void doubt_again();
  void take(Instance instance, Consensus&, BatchPtr batch);
  void check_written(Instance instance, Consensus&);
  void check_accepted(Instance instance, Consensus&, const Vote& vote);
  void decide(Instance instance, Consensus&, const Digest& digest);
  /// Hands out what is decided without a gap.
  void advance();
  void hand_out(BatchPtr batch);

  // ---- core_behind.cpp: messages that were lost -----------------------------------------------
  void handle(Sender from, const Behind&);
  void handle(Sender from, const Decided&);
  void handle(Sender from, const FetchBatch&);
  void handle(Sender from, const FetchedBatch&);
  bool stuck() const;
  /// Says again what may have been lost, and asks for what the others have said.
  void say_again();
  void repeat(ReplicaId to, Instance instance, Consensus&);

  // ---- core_leader_change.cpp: STOP, STOPDATA ---------------------------------------------
  void handle(Sender from, const Stop&);
  void handle(Sender from, const StopData&);
  /// Asks for another leader, in one line why.
  void demand(const std::string& why);
  void ask_to_stop(Regency regency);
  void follow_regencies();
  void enter(Regency regency);
  Collect make_collect() const;
  void send_stop_data();
  bool acceptable(const Collect& collect, Regency expected) const;
  void gather();

  // ---- core_sync.cpp: SYNC ------------------------------------------------------------------
  void handle(Sender from, const Sync&);
  std::optional<Binding> check(const Sync& sync) const;
  void begin_regency(Binding binding);
  void suspect_clients();

  // ---- core_reads.cpp -------------------------------------------------------------------------
  void handle(Sender from, const ConfirmLeader&);
  void handle(Sender from, const LeaderConfirmed&);
  void confirm_reads();
  void answer_reads();
  void refuse_reads();

  // ---- core_milestones.cpp: proofs of what is decided -----------------------------------------
  void handle(Sender from, const Milestone&);
  void pass_milestone();
  void use_proof(DecisionProof proof);
  bool proves(const DecisionProof& proof) const;

  // ---- core_state.cpp: checkpoints, state transfer, a lost disk -------------------------------
  void handle(Sender from, const CheckpointVote&);
  void handle(Sender from, const StateRequest&);
  void handle(Sender from, const StateOffer&);
  void handle(Sender from, const ManifestRequest&);
  void handle(Sender from, const Manifest&);
  void handle(Sender from, const ChunkRequest&);
  void handle(Sender from, const Chunk&);
  void handle(Sender from, const LogRequest&);
  void handle(Sender from, const LogSuffix&);
  void forget_checkpointed();
  /// The highest instance at which this replica has voted.
  Instance voted();
  void check_far_behind();
  /// The service is now what `checkpoint` says; the order goes on behind it.
  void jump_to(const CheckpointInfo& checkpoint);
  /// The next instance after decided() is known for certain to be this batch.
  void learn(BatchPtr batch);
  void act_or_load(std::vector<Action>& wanted);
  void load(const CheckpointInfo& checkpoint);
  void regain_memory();
  void tick_state();
  std::optional<Time> state_deadline() const;
  Position position() const { return {views, decided, history}; }

  // ---- core_views.cpp: reconfiguration --------------------------------------------------------
  void handle(Sender from, const ViewVote&);
  void handle(Sender from, const SignedView&);
  void decide_view(const Batch& batch);
  bool at_boundary() const;
  void pass_view();
  void use_view();

  // ---- helpers --------------------------------------------------------------------------------
  bool byzantine() const { return view.model == FaultModel::byzantine; }
  Regency regency() const { return regencies.entered(); }
  /// Not asking for another leader already.
  bool content() const { return regencies.wanted() == regency(); }
  /// A member, with all of its memory.
  bool votes() const { return voting && own; }
  bool leads() const {
    return synced && votes() && view.leader(regency()) == me && regency() >= leads_from;
  }
  std::optional<std::size_t> index_of(ReplicaId id) const;
  /// Null if it is too old, or too far ahead for this replica: that is noted, and asked for.
  Consensus* instance_at(Instance instance);
  /// No instance above it is heard of: bounds memory, and keeps to members that are known.
  Instance horizon() const {
    const Instance reach = std::min(decided, executed + settings.backlog) + view_delay;
    return views.next() ? std::min(reach, views.next_from() - 1) : reach;
  }
  /// How long to wait: doubles with every change of the leader that brought no decision.
  Time patient(milliseconds time) const {
    return Time(time) * (std::int64_t{1} << std::min(failures, 6u));
  }
  /// The leader's clock, continued here.
  std::uint64_t clock() const {
    return clock_time + static_cast<std::uint64_t>((now - clock_at).count());
  }

  /// A batch of this time was decided. Only the leader's clock counts: a follower that goes on from
  /// its own would, as the next leader, let time jump forward, and leases end early.
  void follow_clock(std::uint64_t to) {
    decided_time = std::max(decided_time, to);
    if (leads()) return advance_clock(to);
    clock_time = decided_time;
    clock_at = now;
  }
  void advance_clock(std::uint64_t to) {
    if (to <= clock()) return;
    clock_time = to;
    clock_at = now;
  }

  template <class A>
  void act(A action) {
    out->emplace_back(std::in_place_type<A>, std::move(action));
  }
  void persist(LogRecord record) {
    if (!replaying) act(Persist{std::move(record)});
  }
  void note(std::string text, bool warning = false) { act(Note{warning, std::move(text)}); }
  void halt(std::string why);
  template <class M>
  void send(ReplicaId to, M m, bool after_log = false) {
    act(Send{to, message(std::move(m)), after_log});
  }
  void send_others(const MessagePtr& m, bool after_log = false);
  /// To this replica as well: it comes back once it is durable.
  void send_all(const MessagePtr& m, bool after_log);

  const Settings settings;
  const ReplicaId me;
  const Authenticator& auth;
  View view;
  /// The place of this replica in it; none if it is no member.
  std::optional<std::size_t> own;
  /// Until the first step.
  Recovered recovered;

  Time now{};
  std::vector<Action>* out = nullptr;
  bool started = false, halted = false;
  /// What is replayed is in the log already.
  bool replaying = false;
  /// False while this replica may have voted for what it no longer knows.
  bool voting = true;
  /// Not at or below this: it may have done so in a life that it forgot.
  Instance votes_above = 0;

  // The order.
  Instances instances;
  /// Up to here everything is decided and was handed out; and executed.
  Instance decided = 0, executed = 0;
  Digest history{};
  Milestones milestones;
  /// The best one known, of others as well: it may be above `decided`.
  DecisionProof proof;
  /// What the others say that they have decided; hints.
  std::vector<Instance> decided_by;
  /// When each was last told again what this replica has said.
  std::vector<Time> repeated_at;
  std::uint64_t clock_time = 0, decided_time = 0;
  Time clock_at{};

  // What others need, and what comes from them.
  DecidedLog decided_log;
  Checkpoints checkpoints;
  Reconfiguration views;
  StateTransfer transfer;
  Amnesia amnesia;
  Time ask_again{};
  /// The service is becoming a checkpoint: nothing is handed out.
  bool loading = false;

  // The leader.
  RequestPool pool;
  Regencies regencies;
  /// The highest that is in the log.
  Regency stop_said = 0;
  /// What is bound in this regency is known.
  bool synced = true;
  /// Below it this replica may have proposed what it no longer knows.
  Regency leads_from = 0;
  /// A proposal is held of which this replica could not verify all requests.
  bool some_doubtful = false;
  /// This replica's entry into this regency is durable.
  bool entry_durable = false;
  std::map<Instance, Digest> bound;
  /// Places up to here are proposed even if nobody waits: they may hide holes.
  Instance fill_until = 0;
  Instance base = 0;
  Instance next_instance = 1;
  /// Bound there, and asked for with FetchBatch.
  std::optional<Instance> fetching;
  /// Of this regency, or of a later one that this replica has not entered.
  std::vector<std::optional<Collect>> collects;
  /// The SYNC of this regency, for whoever missed it.
  MessagePtr sync;
  unsigned failures = 0;
  /// Whose connection ended and who has not spoken since.
  std::vector<bool> lost;

  // Times.
  Time heard_leader{}, beat_at{}, sync_by{}, stop_again{}, stop_data_again{}, say_again_at{};
  /// The last decision.
  Time progress_at{};
  Time say_again_every{};
  /// In vain, since the last decision.
  unsigned say_again_count = 0;
  /// A message was beyond the horizon, or somebody is further than this replica.
  bool others_ahead = false;

  struct Read {
    std::uint64_t token = 0;
    /// All that may have been acknowledged before it was asked.
    Instance after = 0;
  };
  std::vector<Read> reads_waiting, reads_asked, reads_confirmed;
  std::uint64_t read_round = 0;
  std::set<std::size_t> confirmed_by;
  Time read_again{};
};

}  // namespace piracema::smr
