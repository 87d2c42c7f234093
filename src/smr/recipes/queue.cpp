#include <piracema/smr/queue.h>

#include <map>
#include <utility>

#include "base/text.h"
#include "smr/recipes/ask.h"

namespace piracema::smr::kv {

namespace {

/// What is looked at for one claim, and for those after it as long as they are free still.
constexpr std::size_t candidates_max = 32;

/// Sorts as the number does.
std::string name_of(Index number) {
  std::string name(16, '0');
  for (auto digit = name.rbegin(); number != 0; ++digit, number >>= 4) {
    *digit = "0123456789abcdef"[number & 15];
  }
  return name;
}

}  // namespace

Queue::Queue(Invoker& invoker, std::string name, const LeaseOptions& options)
    : invoker_(invoker), items_(name + "/item/"), claims_(name + "/claim/"), options_(options) {}
Queue::~Queue() = default;

// Its name is a place in the order that is this item's alone: so none waits for another one that is
// put, and an item that was put when another one began to be is before it.
Result<Done> Queue::put(const std::string& item) {
  const auto place = change(invoker_, Get{items_});
  if (!place) return place.error();
  if (place->status != Status::not_found) return unexpected("a place in the queue", *place);
  const auto put =
      change(invoker_, Put{.key = items_ + name_of(place->index), .value = item, .expected = 0});
  if (!put) return put.error();
  if (put->status != Status::ok) return unexpected("an item in the queue", *put);
  return Done{};
}

Result<std::optional<Queue::Claim>> Queue::claim(std::chrono::milliseconds patience) {
  Waiting waiting(patience);
  while (true) {
    if (auto ensured = ensure_lease(); !ensured) return ensured.error();
    auto claimed = try_candidates();
    if (!claimed || *claimed) return claimed;
    if (auto looked = look_for_candidates(); !looked) return looked.error();
    if (candidates_.empty() && !waiting.again()) return std::optional<Claim>();
  }
}

Result<Done> Queue::ensure_lease() {
  if (lease_ && lease_->alive()) return Done{};
  auto granted = Lease::grant(invoker_, options_);
  if (!granted) return granted.error();
  lease_ = *std::move(granted);
  candidates_.clear();
  mine_.clear();
  return Done{};
}

Result<Done> Queue::look_for_candidates() {
  std::map<std::string, Entry> claims;
  for (List list{claims_, ""};;) {
    auto part = look(invoker_, list);
    if (!part) return part.error();
    for (Entry& claim : part->entries) {
      list.after = claim.key;
      claims.emplace(claim.key, std::move(claim));
    }
    if (!part->more) break;
  }
  for (List list{items_, ""}; candidates_.size() < candidates_max;) {
    auto part = look(invoker_, list);
    if (!part) return part.error();
    for (Entry& item : part->entries) {
      list.after = item.key;
      if (candidates_.size() == candidates_max || mine_.count(item.key) != 0) continue;
      const auto claim = claims.find(claim_key(item.key));
      if (claim == claims.end()) {
        candidates_.push_back({std::move(item)});
      } else if (claim->second.lease == lease_->id()) {
        candidates_.push_back({std::move(item), claim->second.created});
      }
    }
    if (!part->more) break;
  }
  return Done{};
}

Result<std::optional<Queue::Claim>> Queue::try_candidates() {
  while (!candidates_.empty()) {
    Candidate candidate = std::move(candidates_.front());
    candidates_.pop_front();
    Entry& item = candidate.item;
    if (candidate.claimed != 0)
      return std::optional(make_claim(std::move(item), candidate.claimed));
    const auto reply =
        change(invoker_, Transaction{.conditions = {{item.key, item.changed}},
                                     .puts = {{claim_key(item.key), "", Index{0}, lease_->id()}}});
    if (!reply) {
      // It may be ours: that shows when we look again.
      candidates_.clear();
      return reply.error();
    }
    if (reply->status == Status::ok) {
      return std::optional(make_claim(std::move(item), reply->entries.at(0).created));
    }
    if (reply->status == Status::conflict) continue;  // Somebody was faster.
    candidates_.clear();
    if (reply->status != Status::no_lease) return unexpected("an item of the queue", *reply);
  }
  return std::optional<Claim>();
}

std::string Queue::claim_key(const std::string& item_key) const {
  return claims_ + item_key.substr(items_.size());
}

Queue::Claim Queue::make_claim(Entry item, Index token) {
  mine_.insert(item.key);
  return {std::move(item.value), {claim_key(item.key), token}, item.key, item.changed};
}

Transaction Queue::finishing(const Claim& claim) const {
  return {.fences = {claim.fence}, .removes = {{claim.key, claim.version}, {claim.fence.key}}};
}

// Asked again after an answer that was lost. As long as the lease lives nobody else can have
// removed the claim: if it is gone, we have.
Result<Done> Queue::finish(const Claim& claim) {
  bool may_be_done = false;
  while (true) {
    const bool counts = lease_ && lease_->alive() && mine_.count(claim.key) != 0;
    const auto reply = change(invoker_, finishing(claim));
    const bool still_counts = counts && lease_->alive();
    if (!reply && reply.error().code == Errc::timeout && still_counts) {
      may_be_done = true;
      continue;
    }
    // If it is this one's still, that shows when we look for the next one.
    mine_.erase(claim.key);
    if (!reply) return reply.error();
    if (reply->status == Status::ok) return Done{};
    if (!may_be_done) return unexpected("an item that is claimed", *reply);
    if (still_counts) return Done{};
    return Error{Errc::lost, concat("want item ", claim.key,
                                    " finished: the answer was lost, and then the lease")};
  }
}

Result<Done> Queue::give_back(const Claim& claim) {
  mine_.erase(claim.key);
  const auto reply = change(invoker_, Remove{.key = claim.fence.key, .fence = claim.fence});
  if (!reply) return reply.error();
  return Done{};  // Whatever the status: it is not this one's any more.
}

Result<std::optional<std::string>> Queue::take(std::chrono::milliseconds patience) {
  while (true) {
    auto claimed = claim(patience);
    if (!claimed) return claimed.error();
    if (!*claimed) return std::optional<std::string>();
    const auto finished = finish(**claimed);
    if (finished) return std::optional(std::move((*claimed)->item));
    if (finished.error().code != Errc::refused) return finished.error();
  }
}

}  // namespace piracema::smr::kv
