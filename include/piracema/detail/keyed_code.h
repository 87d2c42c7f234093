#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/collected_states.h>
#include <piracema/detail/expiring_table.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/items_of_blocks.h>
#include <piracema/detail/keyed_rows.h>
#include <piracema/detail/keyed_table.h>
#include <piracema/detail/state_layout.h>
#include <piracema/detail/stored_rows.h>
#include <piracema/detail/stored_table.h>
#include <piracema/key.h>
#include <piracema/keyed_state.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// Code without a state for each key.
struct NoKeys {
  static constexpr bool keyed = false;
  template <class Items>
  void fetch(Items&) const {}
  template <class Items>
  void fetch_left(Items&) const {}
  template <class Items>
  void fetch_right(Items&) const {}
  template <class F>
  void open(const F&, const Context&) {
    static_assert(!HasTtl<F>,
                  "state_ttl() is for code with a state for each key: a V& behind the item");
  }
  template <class Item, class Use>
  void with(const Item&, const Use& use) {
    use();
  }
  template <class Item, class Use>
  void with_left(const Item&, const Use& use) {
    use();
  }
  template <class Item, class Use>
  void with_right(const Item&, const Use& use) {
    use();
  }
};

/// What a key is kept as: a text as a string.
template <class Key>
struct KeptKey {
  using type = std::conditional_t<is_text_key<Key>, std::string, Key>;
};

/// The states of the keys of code `F`; `Found` is a key as it is found in an item.
template <class F, class Found, class State>
class StatesOf {
  using Key = typename KeptKey<Found>::type;
  static constexpr bool expires = HasTtl<F>;
  using Kept = std::conditional_t<expires, Timed<State>, State>;
  template <class Base, class Rows>
  using Table =
      std::conditional_t<has_collections<State>, CollectedStates<Rows, Key, State, expires>,
                         std::conditional_t<expires, Expiring<Base, Key, State>, Base>>;
  using InMemory = Table<KeyedTable<Key, Kept>, KeyedRows<Key>>;
  using Stored = Table<StoredTable<Key, Kept>, StoredRows<Key>>;

 public:
  KeyedStates& states(StatePlace* place) {
    if (place == nullptr) {
      if constexpr (has_collections<State>) {
        return in_memory_.states();
      } else {
        return in_memory_;
      }
    }
    stored_ = std::make_unique<Stored>();
    stored_->lie_in(*place);
    return stored_->states();
  }

  void open(const F& code, const Context& context) {
    if constexpr (expires) {
      on_table([&](auto& table) { table.expire_after(code.state_ttl(), context.now); });
    }
  }

  /// At some items of a batch: the states of those that come next are on their way to the caches
  /// when they come.
  template <class Items, class KeyOf>
  void fetch_keys(Items& items, const KeyOf& key_of) const {
    if constexpr (!has_collections<State>) {
      if (items.come() % InMemory::fetched_max != 0 || stored_ || !in_memory_.is_large()) return;
      std::array<std::uint64_t, InMemory::fetched_max> mixed;
      std::size_t count = 0;
      items.look_ahead(mixed.size(), [&](const auto& item) {
        mixed[count] = mix(KeyHash<Found>::of(key_of(item)));
        count += 1;
      });
      in_memory_.fetch({mixed.data(), count});
    }
  }

  /// Calls `use` with what the code's arguments want of the state of `key`.
  template <class Arguments, class Use>
  void with(const Found& key, const Use& use) {
    on_table([&](auto& table) { with_table<Arguments>(table, key, use); });
  }

  template <class... E>
  void finish(F& code, E&... emit) {
    if constexpr (requires(const Key& key, State& state) { code.finish(key, state, emit...); }) {
      on_table([&](auto& table) {
        table.for_each([&](const Key& key, State& state) { code.finish(key, state, emit...); });
      });
    }
  }

  std::string layout(const std::string& own) const { return layout_with<State>(own); }
  static constexpr std::uint32_t former_states = FormerState<State>::count;
  /// The same of the types that the state had in versions before, the newest first.
  std::vector<std::string> former_layouts(const std::string& own) const {
    std::vector<std::string> all;
    for_each_former<State>(
        [&](auto* one) { all.push_back(layout_with<std::remove_pointer_t<decltype(one)>>(own)); });
    return all;
  }

 private:
  template <class T>
  class Access final : public StateAccess<State> {
   public:
    Access(T& table, const Found& key, std::uint64_t mixed)
        : table_(table), key_(key), mixed_(mixed) {}
    const State* find() const override { return table_.find(key_, mixed_); }
    State& edit() override { return table_.edit(key_, mixed_); }
    void erase() override { table_.erase(key_, mixed_); }

   private:
    T& table_;
    const Found& key_;
    std::uint64_t mixed_;
  };

  template <class Value>
  static std::string layout_with(const std::string& own) {
    StateLayout keys, values;
    keys.encoded<Key>();
    values.encoded<Value>();
    return "keys(" + keys.text() + ", " + values.text() + (expires ? " with its time" : "") + ")" +
           (own == "nothing" ? "" : " and " + own);
  }

  template <class Use>
  void on_table(const Use& use) {
    if (stored_) [[unlikely]]
      return use(*stored_);
    use(in_memory_);
  }

  template <class Arguments, class T, class Use>
  void with_table(T& table, const Found& key, const Use& use) {
    const std::uint64_t mixed = mix(KeyHash<Found>::of(key));
    if constexpr (expires) table.tick();
    if constexpr (has_collections<State>) table.begin(key, mixed);
    if constexpr (Arguments::edits_state) {
      use(table.edit(key, mixed));
    } else {
      Access<T> access(table, key, mixed);
      KeyedState<State> state(access);
      use(state);
    }
    if constexpr (has_collections<State>) table.done();
  }

  InMemory in_memory_;
  /// In place of that one, if it is there.
  std::unique_ptr<Stored> stored_;
};

template <class In, class KeyOf>
using KeyFound = std::decay_t<std::invoke_result_t<const KeyOf&, const In&>>;

/// Code that is called with the state of the item's key.
template <class F, class In, class KeyOf>
class Keyed : public StatesOf<F, KeyFound<In, KeyOf>, typename NodeTypes<F>::State> {
 public:
  static constexpr bool keyed = true;
  explicit Keyed(KeyOf key_of) : key_of_(std::move(key_of)) {}

  template <class Items>
  void fetch(Items& items) const {
    Keyed::StatesOf::fetch_keys(items, key_of_);
  }
  template <class Use>
  void with(const In& item, const Use& use) {
    Keyed::StatesOf::template with<typename NodeTypes<F>::Arguments>(key_of_(item), use);
  }

 private:
  KeyOf key_of_;
};

/// The same for a node with two inputs: items of either that have one key have one state.
template <class F, class KeyOfLeft, class KeyOfRight>
class KeyedPair : public StatesOf<F, KeyFound<typename JoinTypes<F>::Left, KeyOfLeft>,
                                  typename JoinTypes<F>::State> {
  using Types = JoinTypes<F>;
  using Base = typename KeyedPair::StatesOf;

 public:
  static constexpr bool keyed = true;
  KeyedPair(KeyOfLeft of_left, KeyOfRight of_right)
      : of_left_(std::move(of_left)), of_right_(std::move(of_right)) {}

  template <class Items>
  void fetch_left(Items& items) const {
    Base::fetch_keys(items, of_left_);
  }
  template <class Items>
  void fetch_right(Items& items) const {
    Base::fetch_keys(items, of_right_);
  }
  template <class Use>
  void with_left(const typename Types::Left& item, const Use& use) {
    Base::template with<typename Types::L>(of_left_(item), use);
  }
  template <class Use>
  void with_right(const typename Types::Right& item, const Use& use) {
    Base::template with<typename Types::R>(of_right_(item), use);
  }

 private:
  KeyOfLeft of_left_;
  KeyOfRight of_right_;
};

}  // namespace piracema::detail
