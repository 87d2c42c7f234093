#include "smr/kv/leases.h"

#include <algorithm>
#include <limits>

namespace piracema::smr::kv {

namespace {

std::uint64_t later(std::uint64_t time, std::uint64_t by) {
  const auto never = std::numeric_limits<std::uint64_t>::max();
  return time > never - by ? never : time + by;
}

}  // namespace

bool Leases::grant(Index lease, std::uint64_t ttl, std::uint64_t time) {
  if (leases_.size() >= count_max) return false;
  Lease& granted = leases_[lease];
  granted.ttl = ttl;
  set_deadline(lease, granted, later(time, ttl));
  return true;
}

bool Leases::keep_alive(Index lease, std::uint64_t time) {
  if (!alive(lease, time)) return false;
  Lease& kept = leases_.at(lease);
  set_deadline(lease, kept, later(time, kept.ttl));
  return true;
}

bool Leases::alive(Index lease, std::uint64_t time) const {
  const auto found = leases_.find(lease);
  return found != leases_.end() && time < found->second.deadline;
}

bool Leases::end(Index lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  set_deadline(lease, found->second, 0);
  return true;
}

std::vector<Index> Leases::ended(std::uint64_t time) const {
  std::vector<Index> all;
  for (const auto& [deadline, index] : by_deadline_) {
    if (deadline > time) break;
    all.push_back(index);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::optional<std::uint64_t> Leases::next_deadline() const {
  const auto first = by_deadline_.lower_bound({1, 0});  // Whoever revoked one is at it.
  if (first == by_deadline_.end()) return std::nullopt;
  return first->first;
}

void Leases::forget(Index lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;
  by_deadline_.erase({found->second.deadline, lease});
  leases_.erase(found);
}

void Leases::set_deadline(Index index, Lease& lease, std::uint64_t deadline) {
  by_deadline_.erase({lease.deadline, index});
  lease.deadline = deadline;
  by_deadline_.insert({deadline, index});
}

void Leases::write(wire::Writer& out) const {
  out.number(static_cast<std::uint64_t>(leases_.size()));
  for (const auto& [index, lease] : leases_) {
    out.number(index);
    out.number(lease.ttl);
    out.number(lease.deadline);
  }
}

void Leases::read(wire::Reader& in) {
  const std::size_t count = in.count(24);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto index = in.number<std::uint64_t>();
    const auto ttl = in.number<std::uint64_t>();
    Lease& lease = leases_[index];
    lease.ttl = ttl;
    set_deadline(index, lease, in.number<std::uint64_t>());
  }
}

}  // namespace piracema::smr::kv
