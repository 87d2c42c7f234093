#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/messages/sources.h"
#include "smr/order/transfer/partial_checkpoint.h"

namespace piracema::smr {

/// Pieces that are asked for at a time, of all sources together.
constexpr std::size_t chunks_in_flight = 8;

/// Brings one checkpoint here, piece by piece, from whoever has it. Each piece is compared with its
/// digest and those with that of the checkpoint, which a quorum has signed: who sends something
/// else is not asked again. Pieces of a former life of this replica are used if they fit. Pure.
class CheckpointFetch {
 public:
  /// The proof is good, and `sources` is not empty.
  CheckpointFetch(CheckpointProof proof, Sources sources, std::optional<PartialCheckpoint> partial,
                  Time resend_interval);

  void begin(Time now, std::vector<Action>& out);
  void on_manifest(Time now, ReplicaId from, const Manifest& manifest, std::vector<Action>& out);
  void on_chunk(Time now, ReplicaId from, const Chunk& chunk, std::vector<Action>& out);
  /// It has the checkpoint no more: the others may.
  void on_gone(Time now, ReplicaId from, std::vector<Action>& out);
  /// Asks somebody else for what has not come.
  void tick(Time now, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  const CheckpointProof& proof() const { return proof_; }
  const std::vector<Digest>& chunks() const { return chunks_; }
  /// What is here, to go on with.
  PartialCheckpoint partial() const;
  /// All pieces are stored.
  bool complete() const { return has_manifest_ && missing_ == 0; }
  /// Nobody is left to ask, or nothing has come for long: the others may have gone on.
  bool hopeless() const { return sources_.empty() || fruitless_ > 6; }

 private:
  void ask(Time now, std::vector<Action>& out);
  void distrust(ReplicaId who, const std::string& what, std::vector<Action>& out);
  Time patience() const;

  const CheckpointProof proof_;
  Sources sources_;
  std::optional<PartialCheckpoint> partial_;
  const Time resend_interval_;
  bool has_manifest_ = false;
  std::vector<Digest> chunks_;
  std::vector<bool> here_;
  std::uint32_t missing_ = 0;
  /// Asked for, and until when the answer is waited for.
  struct Asked {
    ReplicaId whom = 0;
    Time until{};
  };
  std::map<std::uint32_t, Asked> asked_;
  std::optional<Asked> manifest_asked_;
  /// Times that were waited for in vain since something came.
  unsigned fruitless_ = 0;
};

}  // namespace piracema::smr
