#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "smr/mutant.h"
#include "smr/order/agreement/binding.h"
#include "smr/order/core/data.h"

/// What the files of the core share; nobody else includes it.
namespace piracema::smr {

struct Core::Parts : CoreData {
  using CoreData::CoreData;

  // ---- core.cpp: what comes in ----------------------------------------------------------------
  void advance_to(Time now, Event& event, std::vector<Action>& out);
  void on(Received&);
  void on(Submitted&);
  void on(ReadAsked& event) { reads.ask(event.token); }
  void on(Executed&);
  void on(CheckpointTaken&);
  void on(CheckpointSkipped&);
  void on(CheckpointLoaded&);
  void on(LinkLost&);
  void forgive_own_lateness(Time time);

  // ---- core_time.cpp: what happens because time has passed -------------------------------------
  void on(Tick&);
  std::optional<Time> next_deadline() const;
  void start();

  // ---- core_recovery.cpp: the log of a former life --------------------------------------------
  void recover();
  bool replayable(Instance instance);
  void doubt_memory();
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

  Instance proposal_horizon() const;
  void propose();

  // ---- core_normal.cpp: from a proposal to a vote ---------------------------------------------
  void handle(Sender from, const Propose&);
  void handle(Sender from, const Forward&);
  void handle(Sender from, const Heartbeat&);
  void tell_of_view(Sender from, const Heartbeat&);
  /// Votes for the proposal that is held there, if everything is right with it.
  void consider(Instance instance, Consensus&);
  bool verified(const Batch& batch) const;
  void doubt_again();
  void look_again();
  void take(Instance instance, Consensus&, BatchPtr batch);

  // ---- core_decide.cpp: from votes to a decision ----------------------------------------------
  void handle(Sender from, const Write&);
  void handle(Sender from, const Accept&);
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

  // ---- core_sync.cpp: SYNC ------------------------------------------------------------------
  void handle(Sender from, const Sync&);
  void begin_regency(Binding binding);

  // ---- core_milestones.cpp: proofs of what is decided -----------------------------------------
  void handle(Sender from, const Milestone&);
  void pass_milestone();
  void use_proof(DecisionProof proof);

  // ---- core_checkpoints.cpp: checkpoints, and what others want ---------------------------------
  void handle(Sender from, const CheckpointVote&);
  void handle(Sender from, const StateRequest&);
  void handle(Sender from, const ManifestRequest&);
  void handle(Sender from, const ChunkRequest&);
  void handle(Sender from, const LogRequest&);
  void say_gone(Sender from, Instance instance);
  void forget_checkpointed();
  /// The highest instance at which this replica has voted.
  Instance voted();

  // ---- core_state.cpp: catching up, a lost disk -------------------------------------------------
  void handle(Sender from, const StateOffer&);
  void handle(Sender from, const Manifest&);
  void handle(Sender from, const Chunk&);
  void handle(Sender from, const LogSuffix&);
  void handle(Sender from, const Gone&);
  void check_far_behind();
  /// The service is now what `checkpoint` says; the order goes on behind it.
  void jump_to(const CheckpointInfo& checkpoint);
  /// The next instance after decided() is known for certain to be this batch.
  void learn(BatchPtr batch);
  void act_or_load(std::vector<Action>& wanted);
  void load(const CheckpointInfo& checkpoint);
  void regain_memory();
  Time learner_interval();
  void tick_state();
  std::optional<Time> state_deadline() const;
  Position position() const { return {views, progress.decided(), progress.history()}; }

  // ---- core_divergence.cpp: replicas whose states differ ---------------------------------------
  void handle(Sender from, const TrailRequest&);
  void handle(Sender from, const Trail&);
  void part_if_different();
  void search(Event& event);
  std::string describe(const Divergence::Place& place) const;

  // ---- core_views.cpp: reconfiguration --------------------------------------------------------
  void handle(Sender from, const ViewVote&);
  void handle(Sender from, const SignedView&);
  void decide_view(const Batch& batch);
  bool at_boundary() const;
  void pass_view();
  void use_view();

  // ---- helpers --------------------------------------------------------------------------------
  /// Null if it is too old, or too far ahead for this replica: that is noted, and asked for.
  Consensus* instance_at(Instance instance);
};

}  // namespace piracema::smr
