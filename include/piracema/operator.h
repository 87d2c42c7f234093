#pragma once

#include <piracema/batch.h>
#include <piracema/detail/stored_states.h>
#include <piracema/key.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace piracema {

/// Which replica of the next node gets an item.
enum class Delivery : std::uint8_t {
  on_demand,           ///< The one that has asked for work; it asks before it is idle.
  round_robin,         ///< Each in turn; where some are of the sender's process, those first.
  broadcast,           ///< All of them.
  by_key,              ///< The same one for equal keys.
  custom,              ///< The one that a function of the user names.
  scatter,             ///< Each gets an equal slice of the item, which is a vector.
  strict_round_robin,  ///< Each in turn, wherever it is: of n, each gets every n-th item.
};

/// A time that means the same in every process and after a restart.
using WallTime = std::chrono::system_clock::time_point;

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
  /// True at the very beginning of the job, or of this operator if it is new in a program that goes
  /// on: no replica of it ever ran before, and nothing is restored.
  bool begins_job = false;
  /// Has `produce` called again soon; a source that was out of items calls it when it has some.
  /// Any thread, as long as the operator lives.
  std::function<void()> wake;
  /// The time by which timers are set. Any thread, as long as the operator lives.
  std::function<WallTime()> now;
};

namespace detail {
template <class Key>
constexpr bool check_key() {
  constexpr bool is_hashed = requires(const Key& key) { std::hash<Key>{}(key); };
  static_assert(is_hashed,
                "a key is hashed by std::hash: give a number or a string, or specialise std::hash "
                "for the type of the key");
  return is_hashed;
}
}  // namespace detail

}  // namespace piracema

namespace piracema::engine {

/// Turns an item into what decides its way: the KeyHash of its key (`by_key`) or the number of the
/// replica that it shall go to (`custom`). Called from the thread of the sending replica.
using Router = std::function<std::uint64_t(const void* item)>;

/// The items that a replica sends. Used by the thread alone that the replica works on.
///
/// A node has one output or several, each with its set of receivers. Items collect in lanes: for
/// each output one lane for each of its receivers and behind them one for items that any (or all)
/// of them may get. A lane that is full leaves as one batch; that may block.
class Output {
 public:
  virtual ~Output() = default;

  /// A source says which identifier the items have that it emits next.
  void begin_item(std::uint64_t id) {
    id_ = id;
    budget_ -= 1;
    at_work_->store(id, std::memory_order_relaxed);
  }

  /// A source that has begun an item has none yet, after all.
  void take_back_item() { budget_ += 1; }

  /// Others say that they go on to item `index` of `batch`, whose bytes are `item`; what they
  /// emit inherits its identifier and its place in the order. False: pass it by.
  bool begin_item(const Batch& batch, std::uint32_t index, Bytes item) {
    begin_item(batch.id(index));
    if (!batch.positions.empty()) position_ = batch.positions[index];
    return !skips_ || !skip(item);
  }

  /// Of the item that was begun last.
  std::uint64_t id() const { return id_; }

  /// Sends an item the way that the edge says. Of one that is given away, by an rvalue, the memory
  /// goes with it if its type is `HandedOver`; so in all of these.
  template <class T>
  void emit(T&& item) {
    emit_on(0, std::forward<T>(item));
  }

  /// The same by one of several outputs, counted from 0.
  template <class T>
  void emit_on(std::uint32_t output, T&& item) {
    const Way& way = ways_[output];
    if (!way.routed) [[likely]] {
      add(way, way.any_lane(), std::forward<T>(item));
    } else if (way.delivery == Delivery::scatter) {
      scatter(way, item);
    } else {
      const std::size_t receiver = route(way, &item);
      add(way, way.first_lane + receiver, std::forward<T>(item));
    }
  }

  /// Sends what `make()` returns, a T or perhaps one (std::optional<T>), by one of several outputs,
  /// counted from 0; false if there is none. It is made where it is to lie, if nothing else has to
  /// look at it.
  template <class T, class Make>
  bool emit_made(std::uint32_t output, const Make& make) {
    const Way& way = ways_[output];
    if constexpr (MadeInPlace<T>) {
      if (!way.routed) [[likely]] {
        Batch& batch = lanes_[way.any_lane()];
        if (!batch.template add_made<T>(id_, make)) return false;
        if (is_full_with_it(way, batch)) [[unlikely]]
          lane_full(way.any_lane());
        return true;
      }
    }
    return detail::with_made<T>(make, [&](T&& item) { emit_on(output, std::move(item)); });
  }

  /// Sends an item to the replica for `key`, whatever the edge says.
  template <class T>
  void emit_to_key(std::uint64_t key, T&& item) {
    const Way& way = ways_[0];
    add(way, way.first_lane + mix(key) % way.receivers, std::forward<T>(item));
  }

  /// Sends an item to one receiver, whatever the edge says. Throws std::out_of_range when there is
  /// none of that number.
  template <class T>
  void emit_to(std::uint32_t output, std::uint64_t receiver, T&& item) {
    const Way& way = ways_[output];
    if (receiver >= way.receivers) no_receiver(receiver, way.receivers);
    add(way, way.first_lane + receiver, std::forward<T>(item));
  }

  /// How many receivers an output has.
  std::uint64_t receivers(std::uint32_t output) const { return ways_[output].receivers; }

  /// True when a source should return: the next item would have to wait, or it is time to look
  /// at what else there is to do.
  bool full() { return budget_ <= 0 && !refill(); }

 protected:
  /// One output of the node, as far as the way of an item is concerned.
  struct Way {
    std::size_t first_lane = 0, receivers = 0;
    Delivery delivery = Delivery::on_demand;
    /// True when every item has to be looked at to know its way.
    bool routed = false;
    /// Items have to remember their place, because a later node puts them back in order.
    bool keeps_positions = false;
    std::uint32_t items_limit = 1;
    std::size_t bytes_limit = std::size_t{256} << 10;
    /// `by_key`: which receiver has which keys.
    KeyGroups groups;
    Router router;

    /// Where a lane is not to be closed before its time: in an order, and where there is nobody.
    static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

    std::size_t any_lane() const { return first_lane + receivers; }
  };

  /// Which receiver `item` goes to. Throws std::out_of_range when a user's router names none.
  static std::size_t route(const Way& way, const void* item);
  [[noreturn]] static void no_receiver(std::uint64_t wanted, std::size_t receivers);

  /// Takes the batch of a lane that has reached its limit. May wait for room.
  virtual void lane_full(std::size_t lane) = 0;

  /// Whether a source may go on although its items are used up, and so many more are there now.
  virtual bool refill() { return false; }

  /// Whether the item that was begun is to be passed by; if so it has been noted.
  virtual bool skip(Bytes item) = 0;

  std::vector<Batch> lanes_;
  /// One for each output; one that leads nowhere where there is none.
  std::vector<Way> ways_;
  /// The place of an item is that of the item it came from; else it is its number, from `emitted_`.
  bool inherits_positions_ = false;
  std::uint32_t emitted_ = 0;
  /// There are items to pass by.
  bool skips_ = false;
  /// Items that a source may begin before it is looked at again whether it should return.
  std::int64_t budget_ = 0;
  /// Where another process reads what this one was at work on when it died.
  std::atomic<std::uint64_t>* at_work_ = &nowhere_;

 private:
  template <class T>
  void add(const Way& way, std::size_t to, T&& item) {
    if constexpr (detail::GivenAway<T>) {
      add_handed(way, to, Codec<T>::hand_over(std::move(item)));
    } else {
      lanes_[to].add(id_, item);
      if (is_full_with_it(way, lanes_[to])) [[unlikely]]
        lane_full(to);
    }
  }

  /// An item of a type that is handed over: a large one has a batch for itself, where that may be.
  void add_handed(const Way& way, std::size_t to, Buffer bytes);

  /// Notes the place of the item that `batch` got last.
  bool is_full_with_it(const Way& way, Batch& batch) {
    if (way.keeps_positions)
      batch.positions.push_back(inherits_positions_ ? position_ : emitted_++);
    return batch.count >= way.items_limit || batch.data.size() >= way.bytes_limit;
  }

  // Slices as equal as they can be, the first ones longer; a receiver may get an empty one.
  template <class T>
  void scatter(const Way& way, const T& item) {
    if constexpr (requires { T(item.begin(), item.end()); }) {
      using Step = typename std::iterator_traits<decltype(item.begin())>::difference_type;
      auto from = item.begin();
      for (std::size_t i = 0; i < way.receivers; ++i) {
        const std::size_t length = item.size() / way.receivers + (i < item.size() % way.receivers);
        const auto to = from + static_cast<Step>(length);
        add(way, way.first_lane + i, T(from, to));
        from = to;
      }
    } else {
      throw std::logic_error("only a vector can be scattered");
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
/// every recovery, and used by one thread at a time. What it throws ends the job by its restart
/// budget.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Called once, after `load` and before the first item.
  virtual void open(const Context&) {}

  /// A node or sink: takes all items of a batch, in order. It may keep the memory of `data`; the
  /// rest stays as it is.
  virtual void process(Batch&, Output&) {}

  /// A source: emits until `output.full()`, or less. Should return within 100 ms: a snapshot, a
  /// recovery and Ctrl-C wait for it. After `nothing_yet` it is called again when it has called
  /// `Context::wake`, and every now and then.
  virtual Produced produce(Output&) { return Produced::end; }

  /// Whether `next_timer` ever says something. A node of a cycle must not: what it sent then could
  /// come after the end of the cycle.
  virtual bool has_timer() const { return false; }
  /// When `on_timer` is to be called; asked after every batch. What it depends on is state, as all
  /// else: a recovery asks anew.
  virtual std::optional<WallTime> next_timer() const { return std::nullopt; }
  /// Called between two batches, at that time or later, and no more once every input has ended.
  /// `now` is what `Context::now` says.
  virtual void on_timer(WallTime now, Output&) { static_cast<void>(now); }

  /// A node or sink: every input has ended.
  virtual void finish(Output&) {}

  /// Appends the state as it is now. Called between two batches.
  virtual void save(Buffer&) {}
  /// Takes over what `save` wrote, all of it. Throws DecodeError if it cannot.
  virtual void load(Bytes in) {
    if (!in.empty()) detail::left_over(in.size(), in.size());
  }

  /// The states that it has for the keys of its items, which are saved and loaded beside the other;
  /// null if it has none. They lie in `place`, or in memory if that is null. Once, before all else.
  virtual KeyedStates* keyed_states(StatePlace* place) {
    static_cast<void>(place);
    return nullptr;
  }

  /// What `save` writes is made of (detail/state_layout.h), so that a snapshot of a program whose
  /// state had another type is known; empty: nobody knows. Called on an object of its own that is
  /// never opened, and used no more.
  virtual std::string layout() { return {}; }
  /// How many types the states of `keyed_states` had in versions of the program before, of which it
  /// can read them (KeyedStates::reads).
  virtual std::uint32_t former_states() const { return 0; }
  /// What `layout` was with each of these, the newest first. Called as `layout` is.
  virtual std::vector<std::string> former_layouts() { return {}; }
  /// The same as `layout` for items that come by an input, counted from 0: a snapshot may hold some
  /// that are under way.
  virtual std::string layout_of_items(std::uint32_t input) const {
    static_cast<void>(input);
    return {};
  }

  /// `prepare(s)` is called just before `save`; what is emitted in it still belongs to the
  /// snapshot. A sink with transactions: `commit(s)` when snapshot `s` can no longer be lost, and
  /// with it every earlier one that was prepared and has failed; without snapshots `commit(0)`,
  /// once, after `finish`. After a recovery `load`, `open`, then `restored(s)`: commit `s` again,
  /// as that may not have happened, and undo everything later.
  virtual void prepare(std::uint64_t) {}
  virtual void commit(std::uint64_t) {}
  virtual void restored(std::uint64_t) {}

  /// For operators that can be fused: where others bring items by a call instead of a batch, a
  /// `detail::Takes<In>*`; null for those that cannot be called so.
  virtual void* takes() { return nullptr; }
  /// What it emits by output 0 goes to `takes`, which is another operator's, by a call.
  virtual void lead_to(void* takes) { static_cast<void>(takes); }

  /// A source: how much of its input it has read, from 0 to 1; below 0 if it does not know.
  virtual double progress() const { return -1; }
};

}  // namespace piracema::engine
