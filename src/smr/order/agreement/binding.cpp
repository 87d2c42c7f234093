#include "smr/order/agreement/binding.h"

#include <algorithm>

#include "smr/order/messages/settings.h"

namespace piracema::smr {

namespace {

const CollectEntry* entry_at(const Collect& collect, Instance instance) {
  const auto at = std::lower_bound(
      collect.entries.begin(), collect.entries.end(), instance,
      [](const CollectEntry& entry, Instance wanted) { return entry.instance < wanted; });
  return at != collect.entries.end() && at->instance == instance ? &*at : nullptr;
}

std::optional<Vote> certified_at(const Collect& collect, Instance instance) {
  const CollectEntry* entry = entry_at(collect, instance);
  return entry ? entry->certified : std::nullopt;
}

// "Nothing" is below regency 0 here: a replica that has certified nothing contradicts no value.
// In BFT-SMaRt nothing is (0, empty), so that it neither agrees with a value of regency 0 nor is
// older than it, and a value that was decided there could be lost.
bool agrees(const std::optional<Vote>& certified, const Vote& value) {
  if (!certified) return true;
  return certified->regency < value.regency || *certified == value;
}

// A replica counts once, however often it lists the value.
bool wrote(const Collect& collect, Instance instance, const Vote& value) {
  const CollectEntry* entry = entry_at(collect, instance);
  if (!entry) return false;
  return std::any_of(entry->written.begin(), entry->written.end(), [&](const Vote& vote) {
    return vote.digest == value.digest && vote.regency >= value.regency;
  });
}

// Crash: nobody lies, and a value that a quorum accepted is with one of this quorum, in the
// highest regency. Byzantine: a quorum must not know of anything newer, so that it was not
// overruled, and one correct replica must have written it, so that it is no invention.
bool binds(const View& view, const std::vector<Collect>& collects, Instance instance,
           const Vote& value) {
  std::size_t agreeing = 0, writers = 0;
  for (const Collect& collect : collects) {
    agreeing += agrees(certified_at(collect, instance), value);
    writers += wrote(collect, instance, value);
  }
  if (view.model == FaultModel::crash) return agreeing == collects.size();
  return agreeing >= view.quorum() && writers >= view.one_correct();
}

bool unbound(const View& view, const std::vector<Collect>& collects, Instance instance) {
  std::size_t nothing = 0;
  for (const Collect& collect : collects) nothing += !certified_at(collect, instance);
  if (view.model == FaultModel::crash) return nothing == collects.size();
  return nothing >= view.quorum();
}

// Of several the newest: if an older one had been decided, no correct replica had written the
// newer one after it.
std::optional<Vote> bound_at(const View& view, const std::vector<Collect>& collects,
                             Instance instance) {
  std::optional<Vote> best;
  for (const Collect& collect : collects) {
    const auto value = certified_at(collect, instance);
    if (!value) continue;
    const bool better = !best || value->regency > best->regency ||
                        (value->regency == best->regency && value->digest < best->digest);
    if (better && binds(view, collects, instance, *value)) best = value;
  }
  return best;
}

}  // namespace

std::optional<Binding> bind(const View& view, const std::vector<Collect>& collects) {
  if (collects.size() < view.quorum()) return std::nullopt;
  Binding binding;
  for (const Collect& collect : collects) {
    if (collect.proof.instance > binding.base.instance) binding.base = collect.proof;
    if (!collect.entries.empty()) {
      binding.top = std::max(binding.top, collect.entries.back().instance);
    }
  }
  binding.top = std::max(binding.top, binding.base.instance);
  for (Instance i = binding.base.instance + 1; i <= binding.top; ++i) {
    if (const auto value = bound_at(view, collects, i)) {
      binding.values[i] = value->digest;
    } else if (!unbound(view, collects, i)) {
      return std::nullopt;
    }
  }
  return binding;
}

bool well_formed(const Collect& collect, FaultModel model) {
  // A correct replica votes no further than this above what it can prove.
  const Instance reach = model == FaultModel::byzantine ? unproven_max + view_delay : view_delay;
  Instance last = collect.proof.instance;
  for (const CollectEntry& entry : collect.entries) {
    if (entry.instance <= last || entry.instance - collect.proof.instance > reach) return false;
    last = entry.instance;
  }
  return true;
}

}  // namespace piracema::smr
