#include "sim/smr/lock_oracle.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace piracema::smr_sim {

using smr::kv::Index;

void LockOracle::seen(Index index, Index floor) {
  if (index < floor) {
    complain(concat("order: an operation at ", index, " was asked after ", floor,
                    " had been acknowledged"));
  }
  floor_ = std::max(floor_, index);
}

void LockOracle::acquired(smr::ClientId client, Index token) {
  const auto [found, is_new] = tokens_.emplace(token, client);
  if (!is_new && found->second != client) {
    complain(concat("tokens: clients ", found->second, " and ", client, " both have ", token));
  }
}

void LockOracle::holds(smr::ClientId client, Index token, Time until) {
  if (until <= now_) return;
  for (const Belief& other : beliefs_) {
    if (other.client == client || other.until <= now_ || clocks_jump_) continue;
    complain(concat("leases: clients ", other.client, " (token ", other.token, ") and ", client,
                    " (token ", token, ") both hold the lock"));
  }
  beliefs_.push_back({client, token, now_, until});
}

void LockOracle::lets_go(smr::ClientId client) {
  for (Belief& belief : beliefs_) {
    if (belief.client == client) belief.until = std::min(belief.until, now_);
  }
}

void LockOracle::ended_early(const std::string& what) {
  if (!clocks_jump_) complain("leases: " + what + " has ended too early");
}

void LockOracle::written(Index index, Index token, std::uint64_t value) {
  written_[index] = {token, value};
}

void LockOracle::read(Index index, std::uint64_t value) { reads_.push_back({index, value}); }

void LockOracle::watched(Index from, const smr::kv::Reply& reply) {
  Watched watched{from, reply.index, {}};
  Index before = from;
  for (const smr::kv::Event& event : reply.events) {
    // One that ends and one that begins may be of one operation.
    if (event.index < before || event.index <= from) complain("watches: events go back");
    before = event.index;
    if (event.change == smr::kv::Change::put) watched.puts.insert(event.index);
  }
  watches_.push_back(std::move(watched));
}

void LockOracle::judge() {
  for (const auto& [index, written] : written_) {
    const auto newest = std::prev(tokens_.lower_bound(index));
    if (newest->first > written.token) {
      complain(concat("tokens: ", written.token, " was good for a write at ", index, ", after ",
                      newest->first, " was given"));
    }
  }
  for (const Read& read : reads_) {
    const auto behind = written_.upper_bound(read.index);
    const std::uint64_t last = behind == written_.begin() ? 0 : std::prev(behind)->second.value;
    // What nobody was told of may have been written all the same, later than that.
    if (read.value == last || perhaps_.contains(read.value)) continue;
    complain(concat("history: a read at ", read.index, " gives ", read.value, ", not ", last));
  }
  for (const Watched& watched : watches_) {
    for (auto put = tokens_.upper_bound(watched.from);
         put != tokens_.end() && put->first <= watched.to; ++put) {
      if (watched.puts.contains(put->first)) continue;
      complain(concat("watches: from ", watched.from, " to ", watched.to, " without ", put->first));
    }
  }
}

}  // namespace piracema::smr_sim
