#pragma once

#include <vector>

#include "smr/order/messages/messages.h"

/// Whether signatures make a proof. A signer counts once, and only if it is a member.
namespace piracema::smr {

/// At least `wanted` members have signed `what`.
bool signed_by(std::size_t wanted, const View& view, const Authenticator& auth, Bytes what,
               const std::vector<Signature>& signatures);

/// A quorum of the view that the checkpoint names has this state. With crash faults always: the
/// word of whoever says so counts. Whether that view is to be trusted is another question.
bool proven(const CheckpointProof& proof, const Authenticator& auth);
/// A correct member of `view` has decided this. With crash faults always.
bool proven(const DecisionProof& proof, const View& view, const Authenticator& auth);
/// View::prove_next() members of `before` say that this view follows on it. Signed with both fault
/// models: clients believe it.
bool proven(const SignedView& next, const View& before, const Authenticator& auth);

}  // namespace piracema::smr
