#pragma once

#include <piracema/error.h>

#include <memory>
#include <variant>

#include "smr/order/messages.h"

/// What a replica writes down. docs/formats/log.md has the bytes around a record.
namespace piracema::smr {

/// The first valid proposal that this replica had for this place in this regency: it votes for no
/// other there. With the batch: whoever decides it may need it from us.
struct ProposalTaken {
  Instance instance = 0;
  Regency regency = 0;
  BatchPtr batch;
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
  auto fields() { return std::tie(regency); }
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

using LogRecord = std::variant<ProposalTaken, ValueCertified, RegencyEntered, InstanceDecided,
                               ProofKept, ViewScheduled>;

/// As a message: head, then body.
EncodedMessage encode(const LogRecord& record);
Result<LogRecord> decode_record(Bytes in);
/// The place it is about; 0 for what is about none (RegencyEntered) and has to survive truncation:
/// Core gives those out again after a Truncate.
Instance instance_of(const LogRecord& record);

}  // namespace piracema::smr
