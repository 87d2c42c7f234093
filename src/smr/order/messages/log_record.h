#pragma once

#include <piracema/error.h>

#include <memory>
#include <variant>

#include "smr/order/messages/messages.h"

/// What a replica writes down. docs/formats/log.md has the bytes around a record.
namespace piracema::smr {

/// The first valid proposal that this replica had for this place in this regency: it votes for no
/// other there. With the batch: whoever decides it may need it from us.
struct ProposalTaken {
  Instance instance = 0;
  Regency regency = 0;
  BatchPtr batch;
};
/// The same, of a batch that an older record of this place holds.
struct ProposalRepeated {
  Instance instance = 0;
  Regency regency = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, regency, digest); }
};
/// Byzantine: a quorum has written it (valQ); before ACCEPT.
struct ValueCertified {
  Instance instance = 0;
  Regency regency = 0;
  Digest digest{};
  auto fields() { return std::tie(instance, regency, digest); }
};
/// No vote in an older regency follows.
struct RegencyEntered {
  Regency regency = 0;
  /// They begin at 0 in each view.
  ViewId view = 0;
  auto fields() { return std::tie(regency, view); }
};
/// For a short recovery; a decision that is not here is found again with the others. `batch` only
/// if no ProposalTaken has it.
struct InstanceDecided {
  Instance instance = 0;
  Digest digest{};
  BatchPtr batch;
};
/// The best proof of decisions so far.
struct ProofKept {
  DecisionProof proof;
  auto fields() { return std::tie(proof); }
};
/// From this instance on these are the members.
struct ViewScheduled {
  Instance from = 0;
  View view;
  auto fields() { return std::tie(from, view); }
};
/// Before the STOP leaves: a replica that lost its disk asks the others for the highest regency
/// that it may have entered, and it entered none that a quorum had not asked for.
struct StopSaid {
  Regency regency = 0;
  ViewId view = 0;
  auto fields() { return std::tie(regency, view); }
};
/// A replica that had lost its disk has caught up and votes again, but for nothing at or below
/// `instance`, and it leads no regency at or below `regency`: it may have done so before.
struct MemoryRegained {
  Instance instance = 0;
  Regency regency = 0;
  ViewId view = 0;
  auto fields() { return std::tie(instance, regency, view); }
};
/// Recovery begins with this checkpoint, and may give it to others.
struct CheckpointStable {
  CheckpointProof proof;
  auto fields() { return std::tie(proof); }
};
/// For those who know an older view. All of them are kept for ever: there are few.
struct ViewSigned {
  SignedView view;
  auto fields() { return std::tie(view); }
};

using LogRecord =
    std::variant<ProposalTaken, ProposalRepeated, ValueCertified, RegencyEntered, InstanceDecided,
                 ProofKept, ViewScheduled, StopSaid, MemoryRegained, CheckpointStable, ViewSigned>;

/// As a message: head, then body.
EncodedMessage encode(const LogRecord& record);
Result<LogRecord> decode_record(Bytes in);
/// The place up to which the log has to be truncated for the record to go; 0 for what is about no
/// place: of each of these kinds the last one is kept. `never_truncated` for what stays.
constexpr Instance never_truncated = ~Instance{0};
Instance instance_of(const LogRecord& record);

}  // namespace piracema::smr
