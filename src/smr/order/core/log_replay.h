#pragma once

#include "smr/order/core/ordering.h"
#include "smr/order/core/recovered.h"

namespace piracema::smr {

/// From the log of a former life: the votes that were given stay given, and what is known to be
/// decided is executed again. Used once, in the first step.
class LogReplay {
 public:
  LogReplay(Step& step, const Membership& members, FormerLife& life, Leadership& leadership,
            const Progress& progress, Instances& instances, DecisionProofs& proofs,
            Checkpoints& checkpoints, Reconfiguration& views, Ordering& ordering);

  void recover(Recovered found);

 private:
  void replay(ProposalTaken& record);
  void replay(ProposalRepeated& record);
  void replay(ValueCertified& record);
  void replay(RegencyEntered& record);
  void replay(InstanceDecided& record);
  void replay(ProofKept& record);
  void replay(StopSaid& record);
  void replay(MemoryRegained& record);
  void replay(ViewScheduled& record);
  void replay(CheckpointStable& record);
  void replay(ViewSigned& record);
  bool is_replayable(Instance instance);
  void doubt_memory();

  Step& step_;
  const Membership& members_;
  FormerLife& life_;
  Leadership& leadership_;
  const Progress& progress_;
  Instances& instances_;
  DecisionProofs& proofs_;
  Checkpoints& checkpoints_;
  Reconfiguration& views_;
  Ordering& ordering_;
  /// What the service has been restored from, and the digests of its pieces.
  std::optional<CheckpointInfo> checkpoint_;
  std::vector<Digest> chunks_;
};

}  // namespace piracema::smr
