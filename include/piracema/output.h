#pragma once

#include <piracema/batch.h>
#include <piracema/codec.h>
#include <piracema/key.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
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

  /// An item is looked at before it is begun: if that kills the process, it was that item.
  void look_at_item(std::uint64_t id) { at_work_->store(id, std::memory_order_relaxed); }

  /// Some items are passed by, as they have killed a process. None is looked at before it is begun.
  bool passes_by() const { return skips_; }

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

}  // namespace piracema::engine
