#pragma once

#include <map>
#include <optional>
#include <vector>

#include "smr/order/messages/messages.h"

namespace piracema::smr {

/// What a new leader is bound to: everybody computes it from the same collects.
struct Binding {
  /// Decided up to here, with the proof; nothing above it is bound but what `values` has.
  DecisionProof base;
  /// The highest place at which anybody has voted; base.instance at least.
  Instance top = 0;
  /// May have been decided, so nothing else may be proposed there.
  std::map<Instance, Digest> values;
};

/// nullopt if these collects are too few, or do not yet tell what is bound at some place. The
/// collects are of distinct members, of one regency, and their signatures and proofs are good.
/// docs/design/006. Pure.
std::optional<Binding> bind(const View& view, const std::vector<Collect>& collects);

/// Whether the collect is of a form that a correct replica sends: bounded, ascending.
bool well_formed(const Collect& collect, FaultModel model);

}  // namespace piracema::smr
