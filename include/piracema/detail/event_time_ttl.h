#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/expiring_table.h>
#include <piracema/keyed_state.h>
#include <piracema/operator.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema::detail {

struct HasEventTimeOf {
  int event_time_of;
};
struct HasFinish {
  int finish;
};
template <class F>
concept NamesEventTimeOf = CanBeBase<F> && !requires {
  &WithNamed<F, HasEventTimeOf>::event_time_of;
};
template <class F>
concept NamesFinish = !requires {
  &WithNamed<F, HasFinish>::finish;
};

template <class F, class Item>
concept ReadsEventTime = requires(const F& code, const Item& item) {
  { code.event_time_of(item) } -> std::convertible_to<EventTime>;
};

/// Code whose states by key are gone some time after the latest item that changed them, by when
/// items happened: it reads that of each of `Items`.
template <class F, class... Items>
concept HasEventTimeTtl = NamesEventTimeOf<F> && requires(const F& code) {
  { code.state_ttl() } -> std::convertible_to<std::chrono::nanoseconds>;
} &&(ReadsEventTime<F, Items>&&...);

template <class F, class Key, class V, class... E>
concept FinishesKey = requires(F& code, const Key& key, V& value, E&... emit) {
  code.finish(key, value, emit...);
};

template <class F, class... Items>
constexpr bool lives_by_event_time() {
  static_assert(
      !std::is_final_v<F> || !requires { &F::event_time_of; },
      "code with event_time_of is wrapped in another class: its own cannot be final");
  static_assert(
      HasEventTimeTtl<F, Items...> || !NamesEventTimeOf<F>,
      "event_time_of is for a time to live: it takes what the code takes, as in `EventTime "
      "event_time_of(const In&) const`, and `state_ttl() const` stands beside it");
  return HasEventTimeTtl<F, Items...>;
}

/// Code `F` with a state `V` for each key, as `StatesOf` calls it, and with a time to live by event
/// time. A state is kept with the time of the latest item that changed it, ns since 1970.
template <class F, class V>
class LivesByEventTime : public F {
  static_assert(!has_collections<V>,
                "a state with a MapState or a ListState has no time to live by event time");

 public:
  using Kept = Timed<V>;

  explicit LivesByEventTime(F code) : F(std::move(code)) {}

  /// By the clock it has none.
  void state_ttl() const = delete;
  std::string layout_of_states() const { return "with the time of its items"; }

  void start(const Context& context) {
    ttl_ = F::state_ttl();
    if (ttl_ < std::chrono::nanoseconds(1)) {
      throw std::invalid_argument("state_ttl(): want a time of at least 1 ns, found " +
                                  std::to_string(ttl_.count()) + " ns");
    }
    if constexpr (requires { F::start(context); }) F::start(context);
  }

  /// An item of the key cannot find it any more.
  template <class Item>
  bool is_over(const Item& item, const Kept& kept) const {
    return is_over_at(F::event_time_of(item), kept);
  }
  bool begin_closing(EventTime come) {
    come_ = come;
    if (looked_ != no_event_time && since(ns(looked_), ns(come)) < ttl() / looks_in_ttl) {
      return false;
    }
    looked_ = come;
    return true;
  }
  bool is_due(const Kept& kept) const { return is_over_at(looked_, kept); }
  /// The key has no state any more.
  template <class Key, class... E>
  bool close(const Key& key, Kept& kept, E&... emit) {
    if constexpr (FinishesKey<F, Key, V, E...>) F::finish(key, kept.value, emit...);
    return true;
  }
  /// What `finish` emits may be as old as the state that it is called with.
  EventTime event_time_behind(EventTime come) const {
    if constexpr (!NamesFinish<F>) {
      return come;
    } else {
      return looked_ < no_event_time + ttl_ ? no_event_time : looked_ - ttl_;
    }
  }

  template <class Key, class... E>
  requires FinishesKey<F, Key, V, E...>
  void finish(const Key& key, Kept& kept, E&... emit) { F::finish(key, kept.value, emit...); }
  template <class... E>
  requires requires(F& code, E&... emit) { code.finish(emit...); }
  void finish(E&... emit) { F::finish(emit...); }

 protected:
  /// Calls `use` with what the code's argument `A` wants of the state of the item's key.
  template <class A, class Item, class Use>
  decltype(auto) with_state(const Item& item, KeyedState<Kept>& state, const Use& use) const {
    Access access(time_of(item), state);
    if constexpr (StateOf<A>::edits) {
      return use(access.edit());
    } else {
      KeyedState<V> own(access);
      return use(own);
    }
  }

 private:
  class Access final : public StateAccess<V> {
   public:
    Access(std::int64_t time, KeyedState<Kept>& state) : time_(time), state_(state) {}
    const V* find() const override {
      const Kept* const kept = state_.find();
      return kept == nullptr ? nullptr : &kept->value;
    }
    V& edit() override {
      const bool is_new = state_.find() == nullptr;
      Kept& kept = state_.edit();
      kept.changed = is_new ? time_ : std::max(kept.changed, time_);
      return kept.value;
    }
    void erase() override { state_.erase(); }

   private:
    const std::int64_t time_;
    KeyedState<Kept>& state_;
  };

  template <class Item>
  std::int64_t time_of(const Item& item) const {
    const EventTime time = F::event_time_of(item);
    if (time < come_) [[unlikely]]
      too_early(time);
    return ns(time);
  }

  /// So often a look at all keys gives their room back, and a state is there for an eighth longer
  /// at most.
  static constexpr std::uint64_t looks_in_ttl = 8;

  static std::int64_t ns(EventTime time) {
    return std::chrono::nanoseconds(time.time_since_epoch()).count();
  }
  /// From one to a later one; it may have more than 63 bits.
  static std::uint64_t since(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }
  std::uint64_t ttl() const { return static_cast<std::uint64_t>(ttl_.count()); }
  bool is_over_at(EventTime time, const Kept& kept) const {
    const std::int64_t now = ns(time);
    return now > kept.changed && since(kept.changed, now) >= ttl();
  }
  [[noreturn]] void too_early(EventTime time) const {
    throw std::logic_error(
        "an item of " + std::to_string(ns(time)) + " ns since 1970 comes where event time is at " +
        std::to_string(ns(come_)) + ": its time was another one at event_time(...)");
  }

  std::chrono::nanoseconds ttl_{0};
  /// Not saved: event time is told anew.
  EventTime come_ = no_event_time;
  /// Of the last look at all keys.
  EventTime looked_ = no_event_time;
};

/// The code of a node or sink: `Call` is what it is called by.
template <class F, class Call = SignatureOf<F>>
class TimedNode;
template <class F, class R, class Item, class A, class... E>
class TimedNode<F, Signature<R, Item, A, E...>>
    : public LivesByEventTime<F, typename StateOf<A>::type> {
  using Base = LivesByEventTime<F, typename StateOf<A>::type>;

 public:
  using Base::Base;

  R operator()(Item item, KeyedState<typename Base::Kept>& state, E... emit) {
    F& code = *this;
    return this->template with_state<A>(
        item, state, [&](auto& own) -> R { return code(static_cast<Item&&>(item), own, emit...); });
  }
};

/// The code of a join.
template <class F, class Left = typename CallOf<decltype(&F::left)>::type,
          class Right = typename CallOf<decltype(&F::right)>::type>
class TimedJoin;
template <class F, class RL, class Left, class AL, class RR, class Right, class AR, class... E>
class TimedJoin<F, Signature<RL, Left, AL, E...>, Signature<RR, Right, AR, E...>>
    : public LivesByEventTime<F, typename StateOf<AL>::type> {
  using Base = LivesByEventTime<F, typename StateOf<AL>::type>;
  using State = KeyedState<typename Base::Kept>;

 public:
  using Base::Base;

  void left(Left item, State& state, E... emit) {
    F& code = *this;
    this->template with_state<AL>(
        item, state, [&](auto& own) { code.left(static_cast<Left&&>(item), own, emit...); });
  }
  void right(Right item, State& state, E... emit) {
    F& code = *this;
    this->template with_state<AR>(
        item, state, [&](auto& own) { code.right(static_cast<Right&&>(item), own, emit...); });
  }
};

}  // namespace piracema::detail
