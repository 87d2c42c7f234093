#pragma once

#include <piracema/smr/lease.h>

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace piracema::smr::kv {

/// A queue of the map, for work that is handed to one taker at a time. An item stays in the map
/// until whoever claimed it has finished it; if that one dies, or loses its lease, the item is
/// handed out again, and the former claim finishes nothing any more. So no item is lost, and each
/// is finished once.
///
/// Items leave in the order in which they were put; those that were put at the same time, in any
/// one. Takers beside each other now and then want the same item, and all but one ask again: for
/// some tens of takers, not for thousands. One thread.
class Queue {
 public:
  /// The entries of the queue begin with `name` and a slash. `options` are of the lease that all
  /// claims of this object have; when it is lost, so are they, and the next claim makes a new one.
  /// `invoker` outlives it.
  Queue(Invoker& invoker, std::string name, const LeaseOptions& options = {});
  /// Gives back what is claimed, without waiting for the answer.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// An item, of value_bytes_max at most. After an error nobody knows whether it was put.
  Result<Done> put(const std::string& item);

  struct Claim {
    std::string item;
    /// For what must not be done by somebody who has lost the claim: Put::fence and the like. Its
    /// token is larger than that of any claim on this item before.
    Fence fence;
    /// The entry of the item, and its version.
    std::string key;
    Index version = 0;
  };
  /// The first item that nobody has claimed; waits for one, for `patience` at most. nullopt: there
  /// is none. After an error an item may be this one's without its knowing: ask again, and it is
  /// found, or let the object go.
  Result<std::optional<Claim>> claim(std::chrono::milliseconds patience = {});
  /// The item is done, and goes. Errc::refused: the claim was lost before, and somebody else has
  /// the item or will have it. Errc::timeout, Errc::lost: nobody knows.
  Result<Done> finish(const Claim& claim);
  /// As one operation with changes of one's own, such as the result: add them, and invoke it.
  /// Status other than ok: nothing was changed, and Status::fenced: the claim was lost.
  Transaction finishing(const Claim& claim) const;
  /// Somebody else is to do it.
  Result<Done> give_back(const Claim& claim);

  /// `claim` and `finish`: at most once. An item that was taken by who dies then is gone.
  Result<std::optional<std::string>> take(std::chrono::milliseconds patience = {});

 private:
  struct Candidate {
    Entry item;
    /// Set: it is this one's already, by a claim whose answer was lost.
    Index claimed = 0;
  };

  Result<Done> ensure_lease();
  Result<Done> look_for_candidates();
  Result<std::optional<Claim>> try_candidates();
  std::string claim_key(const std::string& item_key) const;
  Claim make_claim(Entry item, Index token);

  Invoker& invoker_;
  const std::string items_, claims_;
  const LeaseOptions options_;
  std::unique_ptr<Lease> lease_;
  /// Items that nobody had claimed when this one looked.
  std::deque<Candidate> candidates_;
  /// The items that this one has claimed with its lease.
  std::set<std::string> mine_;
};

}  // namespace piracema::smr::kv
