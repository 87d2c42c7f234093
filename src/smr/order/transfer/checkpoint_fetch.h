#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/transfer/pace.h"
#include "smr/order/transfer/partial_checkpoint.h"
#include "smr/order/transfer/sources.h"

namespace piracema::smr {

/// Brings one checkpoint here, piece by piece, from whoever has it. Each piece is compared with its
/// digest and those with that of the checkpoint, which a quorum has signed: who sends something
/// else is not asked again. Pieces of a former life of this replica are used if they fit. Pure.
class CheckpointFetch {
 public:
  /// The proof is good, and `sources` is not empty. `pace` outlives it.
  CheckpointFetch(CheckpointProof proof, Sources sources, std::optional<PartialCheckpoint> partial,
                  Pace& pace);

  void begin(Time now, std::vector<Action>& out);
  void on_manifest(Time now, ReplicaId from, const Manifest& manifest, std::vector<Action>& out);
  void on_chunk(Time now, ReplicaId from, const Chunk& chunk, std::vector<Action>& out);
  /// It has the checkpoint no more: the others may.
  void on_gone(Time now, ReplicaId from, std::vector<Action>& out);
  bool has_source(ReplicaId id) const { return sources_.has(id); }
  /// It has the checkpoint as well. Asked at once, if the others are asked in vain.
  void add_source(Time now, ReplicaId id, std::vector<Action>& out);
  /// Any word of it, an answer or not.
  void heard(Time now, ReplicaId from) { sources_.heard(now, from); }
  /// Whether there is somebody to ask who is not asked in vain, and is heard of.
  bool has_hope() const { return sources_.has_hope(); }
  /// Asks somebody else for what has not come. True if nobody is heard of any more, or nothing
  /// comes again and again: others may have offers.
  bool tick(Time now, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  const CheckpointProof& proof() const { return proof_; }
  const std::vector<Digest>& chunks() const { return chunks_; }
  /// What is here, to go on with.
  PartialCheckpoint partial() const;
  /// Pieces that are here, once the manifest is.
  std::uint32_t here() const {
    return has_manifest_ ? static_cast<std::uint32_t>(here_.size()) - missing_ : 0;
  }
  /// All pieces are stored.
  bool complete() const { return has_manifest_ && missing_ == 0; }
  /// Nobody is left to ask, or nothing has come for long: the others may have gone on.
  bool hopeless() const { return sources_.empty() || fruitless_ > 6; }

 private:
  void ask(Time now, std::vector<Action>& out);
  void distrust(ReplicaId who, const std::string& what, std::vector<Action>& out);
  void waited_in_vain_for(ReplicaId who);
  void leave_the_quiet(Time now);

  const CheckpointProof proof_;
  Sources sources_;
  std::optional<PartialCheckpoint> partial_;
  Pace& pace_;
  bool has_manifest_ = false;
  std::vector<Digest> chunks_;
  std::vector<bool> here_;
  std::uint32_t missing_ = 0;
  /// All below are here.
  std::uint32_t next_ = 0;
  /// Asked for, when, and until when the answer is waited for.
  struct Asked {
    ReplicaId whom = 0;
    Time at{}, until{};
  };
  void look_at(const Asked& one, std::optional<Time>& next) const;
  std::map<std::uint32_t, Asked> asked_;
  std::optional<Asked> manifest_asked_;
  /// Of those that are not here: when they were asked for, and whom last.
  std::map<std::uint32_t, Question> questions_;
  /// Who has not answered, how often in a row.
  std::map<ReplicaId, unsigned> silent_;
  /// Times that were waited for in vain since something came.
  unsigned fruitless_ = 0;
};

}  // namespace piracema::smr
