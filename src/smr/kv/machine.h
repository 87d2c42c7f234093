#pragma once

#include <piracema/smr/key_value.h>
#include <piracema/smr/watchable.h>

#include <atomic>
#include <optional>
#include <string>

#include "smr/kv/format.h"
#include "smr/kv/leases.h"
#include "smr/kv/shards.h"

namespace piracema::smr::kv {

/// The key-value service. Cut into shards, which are also what operations conflict on: two on keys
/// of different shards are executed at once, without a lock.
///
/// No counter is shared by all operations: a version, a lease and a fencing token is the place in
/// the order of the operation that made it.
class Machine final : public StateMachine, public Watchable {
 public:
  /// Entries that one Revoke or Expire removes: it stops all others.
  static constexpr std::size_t expired_max = 128;

  Buffer apply(Bytes operation, const Context& context) override;
  Buffer query(Bytes operation) const override;
  Keys keys(Bytes operation) const override;
  bool has_news(Bytes reply) const override;
  std::optional<std::uint64_t> next_deadline() const override { return leases_.next_deadline(); }
  void on_time(const Context& context) override;
  Image snapshot() override;
  std::uint64_t state_bytes() const override;
  bool restore(Bytes image) override;

 private:
  /// What an operation knows: its place, and the clock there.
  struct Moment {
    Index index = 0;
    std::uint64_t time = 0;
    /// Context::left_behind; null for what is not ordered.
    std::uint64_t* left_behind = nullptr;
  };

  Reply execute(const Put& o, Moment at);
  Reply execute(const Remove& o, Moment at);
  Reply execute(const Grant& o, Moment at);
  Reply execute(const KeepAlive& o, Moment at);
  Reply execute(const Revoke& o, Moment at);
  Reply execute(const Expire& o, Moment at);
  Reply execute(const Load& o, Moment at);
  Reply execute(const Transaction& o, Moment at);
  Reply execute(const Get& o, Moment at) const;
  Reply execute(const List& o, Moment at) const;
  Reply execute(const Watch& o, Moment at) const;

  static Entry entry_of(const std::string& key, const Shard::Slot& slot, bool with_value) {
    return {key, with_value ? *slot.value : std::string(), slot.created, slot.changed, slot.lease};
  }
  /// The entry, unless its lease has ended.
  const Shard::Slot* alive(const std::string& key, Moment at) const;
  bool holds(const Fence& fence, Moment at) const;
  bool lives(Index lease, Moment at) const;
  /// Why a change may not be made; ok if it may.
  Reply check(const std::string& key, const std::optional<Index>& expected,
              const std::optional<Fence>& fence, Moment at) const;
  Reply check(const Transaction& o, Moment at) const;
  /// Makes a change that may be made: the entry as it is then, of Remove as it was.
  Entry change(const Put& o, Moment at);
  Entry change(const Remove& o, Moment at);
  void note(Moment at);
  /// Says what an entry is now.
  void leave(const std::string& key, Moment at) const;

  Shards shards_;
  Leases leases_;
  /// Added to all places: they go on behind those of a map that was loaded.
  Index base_ = 0;
  /// The latest operation, for what is not ordered.
  std::atomic<Index> index_{0};
  std::atomic<std::uint64_t> time_{0};
};

}  // namespace piracema::smr::kv
