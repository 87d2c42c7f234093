#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <piracema/batch.h>

namespace piracema {

/// Which replica of the next node gets an item.
enum class Delivery : std::uint8_t {
  on_demand,    ///< The one that has asked for work; it asks before it is idle.
  round_robin,  ///< Each in turn.
  broadcast,    ///< All of them.
  by_key,       ///< The same one for equal keys.
  custom,       ///< The one that a function of the user names.
};

/// Where an operator runs.
struct Context {
  std::string node;
  std::uint32_t replica = 0;
  std::uint32_t replicas = 1;
  /// Number of the replica in the whole plan, and how many the plan has.
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  /// True when another process may still hold what this replica had open (a machine that froze
  /// and could not be ended): write to new files, not to those.
  bool previous_may_live = false;
  /// Has `produce` called again soon; a source that was out of items calls it when it has some.
  /// Any thread, as long as the operator lives.
  std::function<void()> wake;
};

/// Turns an item into what decides its way: a hash of its key (`by_key`) or the number of the
/// replica that it shall go to (`custom`). Called from the thread of the sending replica.
using Router = std::function<std::uint64_t(const void* item)>;

/// Spreads the bits of a hash, so that keys which are small numbers do not share a replica.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The items that a replica sends. Used by the replica's own thread alone.
///
/// Items collect in lanes, one for each replica of the next node and one, the last, for items
/// that any (or all) of them may get. A lane that is full leaves as one batch; that may block.
class Output {
 public:
  virtual ~Output() = default;

  /// A source says which identifier the items have that it emits next.
  void begin_item(std::uint64_t id) {
    id_ = id;
    budget_ -= 1;
    at_work_->store(id, std::memory_order_relaxed);
  }

  /// Others say that they go on to item `index` of `batch`, whose bytes are `item`; what they
  /// emit inherits its identifier and its place in the order. False: pass it by.
  bool begin_item(const Batch& batch, std::uint32_t index, Bytes item) {
    begin_item(batch.id(index));
    if (!batch.positions.empty()) position_ = batch.positions[index];
    return !skips_ || !skip(item);
  }

  /// Of the item that was begun last.
  std::uint64_t id() const { return id_; }

  /// Sends an item the way that the edge says.
  template <class T>
  void emit(const T& item) {
    add(routed_ ? route(&item) : any_lane(), item);
  }

  /// Sends an item to the replica for `key`, whatever the edge says.
  template <class T>
  void emit_to_key(std::uint64_t key, const T& item) {
    add(mix(key) % any_lane(), item);
  }

  /// True when a source should return: the next item would have to wait, or it is time to look
  /// at what else there is to do.
  bool full() const { return budget_ <= 0; }

 protected:
  std::size_t any_lane() const { return lanes_.size() - 1; }

  /// Which lane `item` takes. Throws std::out_of_range when a user's router names no replica.
  std::size_t route(const void* item) const;

  /// Takes the batch of a lane that has reached its limit. May wait for room.
  virtual void lane_full(std::size_t lane) = 0;

  /// Whether the item that was begun is to be passed by; if so it has been noted.
  virtual bool skip(Bytes item) = 0;

  std::vector<Batch> lanes_;
  Delivery delivery_ = Delivery::on_demand;
  Router router_;
  /// True when every item has to ask `router_`.
  bool routed_ = false;
  /// Items have to remember their place, because a later node puts them back in order.
  bool keeps_positions_ = false;
  /// Their place is that of the item they came from; else it is their number, from `emitted_`.
  bool inherits_positions_ = false;
  std::uint32_t emitted_ = 0;
  /// There are items to pass by.
  bool skips_ = false;
  /// Items that a source may begin before it returns.
  std::int64_t budget_ = 0;
  std::uint32_t items_limit_ = 1;
  std::size_t bytes_limit_ = std::size_t{256} << 10;
  /// Where another process reads what this one was at work on when it died.
  std::atomic<std::uint64_t>* at_work_ = &nowhere_;

 private:
  template <class T>
  void add(std::size_t to, const T& item) {
    Batch& batch = lanes_[to];
    batch.add(id_, item);
    if (keeps_positions_) batch.positions.push_back(inherits_positions_ ? position_ : emitted_++);
    if (batch.count >= items_limit_ || batch.data.size() >= bytes_limit_) [[unlikely]] {
      lane_full(to);
    }
  }

  std::uint64_t id_ = 0;
  std::uint32_t position_ = 0;
  std::atomic<std::uint64_t> nowhere_{0};
};

/// What a source has done in one call.
enum class Produced { some, nothing_yet, end };

/// A user's code as the runtime sees it: of no type, and called once a batch.
///
/// The blocks in <piracema/blocks.h> make these from plain functions and structs; derive from it
/// only for what they cannot say. Each replica has its own object, made anew at every start and
/// every recovery, and used by one thread. What it throws ends the job by its restart budget.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Called once, after `load` and before the first item.
  virtual void open(const Context&) {}

  /// A node or sink: takes all items of a batch, in order.
  virtual void process(const Batch&, Output&) {}

  /// A source: emits until `output.full()`, or less. Should return within 100 ms: a snapshot, a
  /// recovery and Ctrl-C wait for it. After `nothing_yet` it is called again when it has called
  /// `Context::wake`, and every now and then.
  virtual Produced produce(Output&) { return Produced::end; }

  /// A node or sink: every input has ended.
  virtual void finish(Output&) {}

  /// Appends the state as it is now. Called between two batches.
  virtual void save(Buffer&) {}
  /// Takes over what `save` wrote. Throws DecodeError if it cannot.
  virtual void load(Bytes) {}

  /// `prepare(s)` is called just before `save`; what is emitted in it still belongs to the
  /// snapshot. A sink with transactions: `commit(s)` when snapshot `s` can no longer be lost, and
  /// with it every earlier one that was prepared and has failed; without snapshots `commit(0)`,
  /// once, after `finish`. After a recovery `load`, `open`, then `restored(s)`: commit `s` again,
  /// as that may not have happened, and undo everything later.
  virtual void prepare(std::uint64_t) {}
  virtual void commit(std::uint64_t) {}
  virtual void restored(std::uint64_t) {}

  /// A source: how much of its input it has read, from 0 to 1; below 0 if it does not know.
  virtual double progress() const { return -1; }
};

}  // namespace piracema
