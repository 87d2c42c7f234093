#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "smr/ids.h"

namespace piracema::smr {

/// Says when a replica begins to lead and when it ceases to, as ReplicaOptions::leads and
/// leads_no_longer; each may be null. A term is another number each time and grows.
class LeadingTerm {
 public:
  using Leads = std::function<void(std::uint64_t term)>;

  LeadingTerm(Leads leads, std::function<void()> leads_no_longer)
      : leads_(std::move(leads)), leads_no_longer_(std::move(leads_no_longer)) {}

  /// How it is now.
  void see(bool leads, ViewId view, Regency regency);

 private:
  const Leads leads_;
  const std::function<void()> leads_no_longer_;
  /// As was said last.
  std::optional<std::uint64_t> term_;
};

}  // namespace piracema::smr
