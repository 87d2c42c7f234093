#pragma once

#include <piracema/detail/block_operator.h>
#include <piracema/detail/callable.h>
#include <piracema/detail/items_of_blocks.h>
#include <piracema/detail/keyed_code.h>
#include <piracema/operator.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// The first of the types that a node gives, which is what it can bring by a call.
template <class Out>
struct FirstOf {
  using type = Out;
};
template <class T, class... More>
struct FirstOf<Outs<T, More...>> {
  using type = T;
};

template <class F, class... E>
concept FinishesWith = requires(F& code, E&... emit) {
  code.finish(emit...);
};

template <class F>
concept HasTimer = requires(const F& code) {
  { code.next_timer() } -> std::convertible_to<std::optional<WallTime>>;
};
template <class F, class... E>
concept TakesTimer = requires(F& code, WallTime now, E&... emit) {
  code.on_timer(now, emit...);
};

template <class F, class... E>
concept TakesEventTime = requires(F& code, EventTime come, E&... emit) {
  code.on_event_time(come, emit...);
};

template <class F>
concept NamesEventTime = requires {
  &F::on_event_time;
};

/// Code that emits: a tuple `Emits` has an Emit or EmitTo for each output.
template <class F, class Emits>
class EmittingOperator : public BlockOperator<F> {
  using First = std::tuple_element_t<0, Emits>;
  static constexpr auto all = std::make_index_sequence<std::tuple_size_v<Emits>>();

 public:
  using BlockOperator<F>::BlockOperator;
  using BlockOperator<F>::code_;

  void lead_to(void* takes) override {
    next_ = static_cast<Takes<typename EmitOf<First>::type>*>(takes);
  }

  void finish(Output& output) override {
    Emits emits = emits_of(output);
    finish_with(emits, all);
  }

  bool has_timer() const override { return HasTimer<F>; }
  std::optional<WallTime> next_timer() const override {
    if constexpr (HasTimer<F>) return code_.next_timer();
    return std::nullopt;
  }
  void on_timer(WallTime now, Output& output) override {
    Emits emits = emits_of(output);
    timer_with(now, emits, all);
  }
  EventTime advance(EventTime come, Output& output) override {
    if (come != no_event_time) {
      Emits emits = emits_of(output);
      event_time_with(come, emits, all);
    }
    return this->own_event_time(come);
  }

 protected:
  /// Calls `use` with what the code emits by.
  template <class Use>
  void with_emits(Output& output, const Use& use) const {
    Emits emits = emits_of(output);
    std::apply(use, emits);
  }
  Emits emits_of(Output& output) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return Emits{emit_of<I>(output)...}; }
    (all);
  }

 private:
  template <std::size_t... I>
  void finish_with(Emits& emits, std::index_sequence<I...>) {
    if constexpr (FinishesWith<F, std::tuple_element_t<I, Emits>...>) {
      code_.finish(std::get<I>(emits)...);
    } else if constexpr (requires(F & code) { code.finish(); }) {
      code_.finish();
    }
  }
  template <std::size_t... I>
  void timer_with(WallTime now, Emits& emits, std::index_sequence<I...>) {
    if constexpr (HasTimer<F>) {
      static_assert(TakesTimer<F, std::tuple_element_t<I, Emits>...>,
                    "code with next_timer() has on_timer(WallTime, Emit<Out>&...) as well");
      if constexpr (TakesTimer<F, std::tuple_element_t<I, Emits>...>) {
        code_.on_timer(now, std::get<I>(emits)...);
      }
    }
  }
  template <std::size_t... I>
  void event_time_with(EventTime come, Emits& emits, std::index_sequence<I...>) {
    if constexpr (NamesEventTime<F>) {
      static_assert(TakesEventTime<F, std::tuple_element_t<I, Emits>...>,
                    "on_event_time takes an EventTime, and the Emit<Out>& that the code is called "
                    "with");
    }
    if constexpr (TakesEventTime<F, std::tuple_element_t<I, Emits>...>) {
      code_.on_event_time(come, std::get<I>(emits)...);
    }
  }
  template <std::size_t I>
  auto emit_of(Output& output) const {
    using E = std::tuple_element_t<I, Emits>;
    if constexpr (I == 0) {
      return E(output, 0, next_);
    } else {
      return E(output, static_cast<std::uint32_t>(I));
    }
  }

  Takes<typename EmitOf<First>::type>* next_ = nullptr;
};

/// Of a node that emits, or else returns what it gives.
template <class F, class Out>
using EmitsOfNode = std::conditional_t<NodeTypes<F>::emits, typename NodeTypes<F>::Emits,
                                       std::tuple<Emit<typename FirstOf<Out>::type>>>;

/// An operator of code with a state for each key, if `Keys` has one; and without.
template <class Base, class F, class Keys>
class WithStates : public Base {
 public:
  explicit WithStates(const F& code) requires(!Keys::keyed) : Base(code) {}
  template <class... KeyOf>
  WithStates(const F& code, KeyOf... key_of) requires(Keys::keyed)
      : Base(code), keys_(std::move(key_of)...) {}

  void open(const Context& context) override {
    Base::open(context);
    keys_.open(this->code_, context);
  }
  void finish(Output& output) override {
    if constexpr (Keys::keyed) {
      this->with_emits(output, [&](auto&... emit) { keys_.finish(this->code_, emit...); });
    }
    Base::finish(output);
  }
  EventTime advance(EventTime come, Output& output) override {
    if constexpr (Keys::keyed) {
      bool is_done = true;
      if (come != no_event_time) {
        this->with_emits(
            output, [&](auto&... emit) { is_done = keys_.advance(this->code_, come, emit...); });
      }
      if (!is_done) return behind_;
    }
    return behind_ = Base::advance(come, output);
  }
  bool is_advancing() const override {
    if constexpr (Keys::keyed) return keys_.is_closing();
    return false;
  }
  KeyedStates* keyed_states([[maybe_unused]] StatePlace* place) override {
    if constexpr (Keys::keyed) return &keys_.states(place);
    return nullptr;
  }
  std::string layout() override {
    if constexpr (Keys::keyed) return keys_.layout(this->code_, Base::layout());
    return Base::layout();
  }
  std::uint32_t former_states() const override {
    if constexpr (Keys::keyed) return Keys::former_states;
    return 0;
  }
  std::vector<std::string> former_layouts() override {
    if constexpr (Keys::keyed) return keys_.former_layouts(this->code_, Base::layout());
    return {};
  }

 protected:
  [[no_unique_address]] Keys keys_;

 private:
  /// How far event time has come behind what it has emitted.
  EventTime behind_ = no_event_time;
};

template <class F, class In, class Out, class Keys = NoKeys>
class BlockNode final : public WithStates<EmittingOperator<F, EmitsOfNode<F, Out>>, F, Keys>,
                        public Takes<In> {
  using Emits = EmitsOfNode<F, Out>;
  using Emitting = EmittingOperator<F, Emits>;
  using Base = WithStates<Emitting, F, Keys>;

 public:
  using Base::Base;

  void* takes() override { return static_cast<Takes<In>*>(this); }

  void take(const In& item, Output& output) override {
    Emits emits = emits_of(output);
    one(item, no_number, emits);
  }
  void take_own(In&& item, Output& output) override {
    Emits emits = emits_of(output);
    one(std::move(item), no_number, emits);
  }

  void process(Batch& batch, Output& output) override {
    Emits emits = emits_of(output);
    if constexpr (TakesBack<F>) {
      if (batch.input == 1) return take_back(batch, output, emits);
    }
    BatchItems<In, Keys::keyed> items(batch, output);
    items.for_each([&](auto& next) { keys_.fetch(next); },
                   [&](auto&& value, std::uint32_t number) {
                     one(std::forward<decltype(value)>(value), number, emits);
                   });
  }

  std::string layout_of_items(std::uint32_t input) const override {
    if (TakesBack<F> && input == 1) return layout_of_encoded<typename BackOf<F>::type>();
    return layout_of_encoded<In>();
  }

 private:
  using Emitting::code_;
  using Emitting::emits_of;

  void take_back(Batch& batch, Output& output, Emits& emits) {
    BatchItems<typename BackOf<F>::type, false> items(batch, output);
    items.for_each([&](auto&& value, std::uint32_t) {
      std::apply(
          [&](auto&... emit) { this->code_.back(std::forward<decltype(value)>(value), emit...); },
          emits);
    });
  }

  static constexpr std::uint32_t no_number = BatchItems<In, Keys::keyed>::none;

  template <class Item>
  void one(Item&& item, std::uint32_t number, Emits& emits) {
    if constexpr (Keys::keyed) {
      std::apply(
          [&](auto&... emit) { keys_.close_before(code_, std::as_const(item), number, emit...); },
          emits);
    }
    keys_.with(std::as_const(item), number, [&](auto&... state) {
      if constexpr (NodeTypes<F>::emits) {
        std::apply([&](auto&... emit) { this->code_(std::forward<Item>(item), state..., emit...); },
                   emits);
      } else {
        std::get<0>(emits).made([&] { return this->code_(std::forward<Item>(item), state...); });
      }
    });
  }

  using Base::keys_;
};

/// A node with two inputs: what comes by the first one goes to `left`, by the second one to
/// `right`.
template <class F, class Keys = NoKeys>
class BlockJoin final
    : public WithStates<EmittingOperator<F, typename JoinTypes<F>::Emits>, F, Keys> {
  using Types = JoinTypes<F>;
  using Emits = typename Types::Emits;
  using Emitting = EmittingOperator<F, Emits>;
  using Base = WithStates<Emitting, F, Keys>;

 public:
  using Base::Base;

  std::string layout_of_items(std::uint32_t input) const override {
    return input == 0 ? layout_of_encoded<typename Types::Left>()
                      : layout_of_encoded<typename Types::Right>();
  }

  void process(Batch& batch, Output& output) override {
    if (batch.input == 0) {
      take_all<true>(batch, output);
    } else {
      take_all<false>(batch, output);
    }
  }

 private:
  template <bool left>
  void take_all(Batch& batch, Output& output) {
    using In = std::conditional_t<left, typename Types::Left, typename Types::Right>;
    Emits emits = this->emits_of(output);
    BatchItems<In, Keys::keyed> items(batch, output);
    items.for_each([&](auto& next) { keys_.template fetch<left>(next); },
                   [&](auto&& value, std::uint32_t number) {
                     using Value = decltype(value);
                     if constexpr (Keys::keyed) {
                       std::apply(
                           [&](auto&... emit) {
                             keys_.template close_before<left>(this->code_, std::as_const(value),
                                                               number, emit...);
                           },
                           emits);
                     }
                     keys_.template with<left>(std::as_const(value), number, [&](auto&... state) {
                       std::apply(
                           [&](auto&... emit) {
                             if constexpr (left) {
                               this->code_.left(std::forward<Value>(value), state..., emit...);
                             } else {
                               this->code_.right(std::forward<Value>(value), state..., emit...);
                             }
                           },
                           emits);
                     });
                   });
  }

  using Base::keys_;
};

template <class F, class In, class Keys = NoKeys>
class BlockSink final : public WithStates<BlockOperator<F>, F, Keys>, public Takes<In> {
  using Base = WithStates<BlockOperator<F>, F, Keys>;

 public:
  using Base::Base;
  using Base::code_;

  std::string layout_of_items(std::uint32_t) const override { return layout_of_encoded<In>(); }

  void* takes() override { return static_cast<Takes<In>*>(this); }
  void take(const In& item, Output&) override { one(item, no_number); }
  void take_own(In&& item, Output&) override { one(std::move(item), no_number); }

  void process(Batch& batch, Output& output) override {
    if constexpr (takes_reference) {
      BatchItems<In, Keys::keyed> items(batch, output);
      items.for_each([&](auto& next) { keys_.fetch(next); },
                     [&](auto&& value, std::uint32_t number) {
                       one(std::forward<decltype(value)>(value), number);
                     });
    } else {
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        const Bytes item = items.next();
        if (output.begin_item(batch, i, item)) one(item_of<In>(batch, item), i);
      }
    }
  }
  void finish(Output& output) override {
    Base::finish(output);
    if constexpr (requires { code_.finish(); }) code_.finish();
  }
  bool has_timer() const override { return HasTimer<F>; }
  std::optional<WallTime> next_timer() const override {
    if constexpr (HasTimer<F>) return code_.next_timer();
    return std::nullopt;
  }
  void on_timer(WallTime now, Output&) override {
    if constexpr (HasTimer<F>) {
      static_assert(TakesTimer<F>, "a sink with next_timer() has on_timer(WallTime) as well");
      if constexpr (TakesTimer<F>) code_.on_timer(now);
    }
  }
  EventTime advance(EventTime come, Output& output) override {
    const EventTime behind = Base::advance(come, output);
    if constexpr (TakesEventTime<F>) {
      if (come != no_event_time && !Base::is_advancing()) code_.on_event_time(come);
    }
    return behind;
  }
  void prepare(std::uint64_t snapshot) override {
    if constexpr (requires { code_.prepare(snapshot); }) code_.prepare(snapshot);
  }
  void commit(std::uint64_t snapshot) override {
    if constexpr (requires { code_.commit(snapshot); }) code_.commit(snapshot);
  }
  void restored(std::uint64_t snapshot) override {
    if constexpr (requires { code_.restored(snapshot); }) code_.restored(snapshot);
  }

 private:
  /// Else its item by value.
  static constexpr bool takes_reference = Keys::keyed || std::is_invocable_v<F&, const In&>;

  static constexpr std::uint32_t no_number = BatchItems<In, Keys::keyed>::none;

  template <class Item>
  void one(Item&& item, std::uint32_t number) {
    if constexpr (Keys::keyed) keys_.close_before(code_, std::as_const(item), number);
    keys_.with(std::as_const(item), number, [&](auto&... state) {
      if constexpr (std::is_invocable_v<F&, Item&&, decltype(state)...>) {
        this->code_(std::forward<Item>(item), state...);
      } else {
        this->code_(In(item), state...);
      }
    });
  }

  using Base::keys_;
};

}  // namespace piracema::detail
