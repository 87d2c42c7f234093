#pragma once

#include <piracema/bytes.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace piracema::smr {

/// What an operation reads and writes: numbers that stand for parts of the state, such as hashes
/// of keys. Two operations conflict if one writes what the other reads or writes; a number that
/// two keys share only costs parallelism.
struct Keys {
  std::vector<std::uint64_t> reads, writes;
  /// Conflicts with every other operation.
  bool all = false;
};

/// What a replica tells the operation about its place in the order. The same on all replicas.
struct Context {
  /// Position of the batch in the total order, and of the operation in the batch.
  std::uint64_t instance = 0;
  std::uint32_t index = 0;
  /// The leader's clock when it proposed the batch, in nanoseconds; never goes back from one batch
  /// to the next. The only time that an operation may know.
  std::uint64_t time = 0;
  std::uint64_t client = 0;
  /// If not null an operation may put a digest there of what it has left behind: the parts of the
  /// state that it wrote, as they are now. Should replicas ever differ, they name the first
  /// operation whose reply or whose digest is not the same; without digests that may be a later
  /// one, whose reply shows what an earlier one did. Costs nobody anything else.
  std::uint64_t* left_behind = nullptr;
};

/// A service that is replicated (paper 003, Algorithm 1). Replicas that apply the same operations
/// in the same order are in the same state and have given the same replies: no clock, no random
/// number, no order of addresses may enter.
class StateMachine {
 public:
  virtual ~StateMachine() = default;

  /// One operation. Called from several threads at once for operations that do not conflict by
  /// `keys`; one at a time, in order, for those that do. Must not throw: an operation that cannot
  /// be understood gets a reply that says so.
  virtual Buffer apply(Bytes operation, const Context& context) = 0;

  /// An operation that changes nothing, outside of the order. As `apply`, but concurrent only with
  /// operations that do not write what it reads.
  virtual Buffer query(Bytes operation) const = 0;

  /// Of the operation alone, never of the state: so it is the same on all replicas, whatever the
  /// client says (paper 003 trusts the client's group; this does not). Must accept any bytes.
  virtual Keys keys(Bytes operation) const = 0;

  /// When `on_time` is to be called next, by Context::time; none as long as nothing is to happen by
  /// itself. A function of the state. Called while no operation runs.
  virtual std::optional<std::uint64_t> next_deadline() const { return std::nullopt; }

  /// Time has passed: an operation that nobody asked for, at a place in the order like any other,
  /// while no other runs. The leader proposes it soon after `next_deadline`; it may come earlier,
  /// and more often, so `context.time` alone says what is due. What is due is done, or
  /// `next_deadline` stays as it was and it is called again at once: never spend long in it.
  virtual void on_time(const Context& context) { static_cast<void>(context); }

  /// Takes the next bytes of an image; it has done with them when it returns.
  using Sink = std::function<void(Bytes)>;
  /// Writes an image: bytes that are equal on all replicas in this state, however they are cut. A
  /// large state is best written part by part, as a replica with a disk never has all of them in
  /// one place. It may be called again, and then writes the same.
  using Image = std::function<void(const Sink&)>;
  /// What the state is now, to be written later and by another thread while operations go on.
  /// Called while no operation runs; should only set aside what it needs (copy on write), as it
  /// stops execution.
  virtual Image snapshot() = 0;

  /// About how many bytes `snapshot` writes now, where that is known at once: a checkpoint of a
  /// large state is then taken less often. A function of the state alone, as all that a machine
  /// does: were it another number on another replica, no checkpoint would be agreed on. Called
  /// while no operation runs.
  virtual std::uint64_t state_bytes() const { return 0; }

  /// Becomes what such bytes say; false, and unchanged, if they are not what `snapshot` makes.
  virtual bool restore(Bytes image) = 0;
};

/// All bytes of an image, in one place.
inline Buffer bytes_of(const StateMachine::Image& image) {
  Buffer bytes;
  image([&bytes](Bytes some) { bytes.append(some.data(), some.size()); });
  return bytes;
}

}  // namespace piracema::smr
