#pragma once

#include <vector>

#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/decided_log.h"
#include "smr/order/leader/leadership.h"
#include "smr/order/leader/proposer.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"
#include "smr/order/transfer/checkpoints.h"
#include "smr/order/transfer/decision_proofs.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// What others want who are behind: this replica's checkpoint, and the batches behind it. Members
/// agree on checkpoints here as well: what all of them have need not be kept for anybody.
class StateServer {
 public:
  StateServer(Step& step, const Membership& members, const FormerLife& life,
              const Leadership& leadership, const Progress& progress, Instances& instances,
              DecidedLog& decided_log, Checkpoints& checkpoints, const Reconfiguration& views,
              const DecisionProofs& proofs, Proposer& proposer);

  void handle(Sender from, const CheckpointVote& m);
  void handle(Sender from, const StateRequest& m);
  void handle(Sender from, const ManifestRequest& m);
  void handle(Sender from, const ChunkRequest& m);
  void handle(Sender from, const LogRequest& m);

  /// The service has made a checkpoint.
  void taken(const CheckpointInfo& checkpoint, std::vector<Digest> chunks);
  /// Whoever needs what is older than the stable checkpoint gets that.
  void forget_checkpointed();

 private:
  void say_gone(Sender from, Instance instance);
  /// The highest instance at which this replica has voted.
  Instance voted() const;

  Step& step_;
  const Membership& members_;
  const FormerLife& life_;
  const Leadership& leadership_;
  const Progress& progress_;
  Instances& instances_;
  DecidedLog& decided_log_;
  Checkpoints& checkpoints_;
  const Reconfiguration& views_;
  const DecisionProofs& proofs_;
  Proposer& proposer_;
};

}  // namespace piracema::smr
