#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/collected_states.h>
#include <piracema/detail/expiring_table.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/hashes_ahead.h>
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
  void fetch(const Items&) const {}
  template <bool left, class Items>
  void fetch(const Items&) const {}
  template <class F>
  void open(const F&, const Context&) {
    static_assert(!HasTtl<F>,
                  "state_ttl() is for code with a state for each key: a V& behind the item");
  }
  template <class Item, class Use>
  void with(const Item&, std::uint32_t, const Use& use) {
    use();
  }
  template <bool left, class Item, class Use>
  void with(const Item&, std::uint32_t, const Use& use) {
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

  /// Before each item of a batch. At some of them, the states of those that come next are on their
  /// way to the caches when they come.
  template <class Items, class KeyOf>
  void fetch_keys(Items& items, const KeyOf& key_of) {
    if constexpr (!has_collections<State>) {
      if (items.come() % HashesAhead::most != 0) return;
      ahead_.begin(items.come());
      if (stored_ || in_memory_.bytes() <= fetch_bytes_min<typename Items::Item>) return;
      items.look_ahead(HashesAhead::most, [&](const auto& item) {
        ahead_.add(mix(KeyHash<Found>::of(key_of(item))));
      });
      in_memory_.fetch(ahead_.all());
    }
  }

  /// Calls `use` with what the code's arguments want of the state of `key`. `item` is the number in
  /// its batch of the item that has it, or BatchItems::none.
  template <class Arguments, class Use>
  void with(const Found& key, std::uint32_t item, const Use& use) {
    const std::uint64_t mixed = mixed_of(key, item);
    on_table([&](auto& table) { with_table<Arguments>(table, key, mixed, use); });
  }

  /// Of code whose states end by event time: closes that of the item's key if the item has come too
  /// late to find it (`is_over`).
  template <class Item, class KeyOf, class... E>
  void close_before(F& code, const Item& item, std::uint32_t number, const KeyOf& key_of,
                    E&... emit) {
    if constexpr (requires(const State& state) { code.is_over(item, state); }) {
      const Found& key = key_of(item);
      const std::uint64_t mixed = mixed_of(key, number);
      on_table([&](auto& table) {
        const State* const state = table.find(key, mixed);
        if (state == nullptr || !code.is_over(item, *state)) return;
        code.close(Key(key), table.edit(key, mixed), emit...);
        table.erase(key, mixed);
      });
    }
  }

  template <class... E>
  void finish(F& code, E&... emit) {
    if constexpr (requires(const Key& key, State& state) { code.finish(key, state, emit...); }) {
      on_table([&](auto& table) {
        table.for_each([&](const Key& key, State& state) { code.finish(key, state, emit...); });
      });
    }
  }

  /// Event time has come to `come`. Of code that closes states by it (a window), `begin_closing`
  /// says whether there is anything to do, `is_due` of which keys, and `close` whether one of these
  /// has no state any more: in an order that depends on the keys alone. Does some of that, and is
  /// true if nothing is left; else it is to be called again, and goes on.
  template <class... E>
  bool advance(F& code, EventTime come, E&... emit) {
    if constexpr (requires { code.begin_closing(come); }) {
      if (!is_closing_ && !code.begin_closing(come)) return true;
      on_table([&](auto& table) {
        if (!std::exchange(is_closing_, true)) table.begin_look();
        std::size_t closed = 0;
        for (int looks = 0; looks < looks_at_once && closed < closed_at_once; ++looks) {
          due_.clear();
          is_closing_ =
              table.look_at_next([&](const Key& key, const State& state, std::uint64_t mixed) {
                if (code.is_due(state)) due_.emplace_back(mixed, key);
              });
          if (!is_closing_) return;
          std::sort(due_.begin(), due_.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : comes_before(a.second, b.second);
          });
          for (const auto& [mixed, key] : due_) {
            if (code.close(key, table.edit(key, mixed), emit...)) table.erase(key, mixed);
          }
          closed += due_.size();
        }
      });
    }
    return !is_closing_;
  }
  bool is_closing() const { return is_closing_; }

  std::string layout(const F& code, const std::string& own) const {
    return layout_with<State>(code, own);
  }
  static constexpr std::uint32_t former_states = FormerState<State>::count;
  /// The same of the types that the state had in versions before, the newest first.
  std::vector<std::string> former_layouts(const F& code, const std::string& own) const {
    std::vector<std::string> all;
    for_each_former<State>([&](auto* one) {
      all.push_back(layout_with<std::remove_pointer_t<decltype(one)>>(code, own));
    });
    return all;
  }

 private:
  std::uint64_t mixed_of(const Found& key, std::uint32_t item) const {
    const std::uint64_t* const known = ahead_.of(item);
    return known != nullptr ? *known : mix(KeyHash<Found>::of(key));
  }

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
  static std::string layout_with(const F& code, const std::string& own) {
    StateLayout keys, values;
    keys.encoded<Key>();
    values.encoded<typename Untimed<Value>::type>();
    std::string text = "keys(" + keys.text() + ", " + values.text();
    // What a state means may depend on more than its type.
    if constexpr (requires { code.layout_of_states(); }) text += " " + code.layout_of_states();
    return text + (expires ? " with its time" : "") + ")" + (own == "nothing" ? "" : " and " + own);
  }

  template <class Use>
  void on_table(const Use& use) {
    if (stored_) [[unlikely]]
      return use(*stored_);
    use(in_memory_);
  }

  template <class Arguments, class T, class Use>
  void with_table(T& table, const Found& key, std::uint64_t mixed, const Use& use) {
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

  /// With less, a table lies in the caches of a processor for the most part, and to look at items
  /// before they come costs more than it brings (bench_keyed_update, of 1 to 16 MB). Those that
  /// have to be decoded in any case are looked at for next to nothing (bench_keyed_texts, from 50
  /// kB on).
  template <class In>
  static constexpr std::size_t fetch_bytes_min =
      DecodedAhead<In> ? std::size_t{32} << 10 : std::size_t{4} << 20;

  /// What `advance` does at once: well under a millisecond as a rule.
  static constexpr int looks_at_once = 16;
  static constexpr std::size_t closed_at_once = 256;

  HashesAhead ahead_;
  bool is_closing_ = false;
  std::vector<std::pair<std::uint64_t, Key>> due_;
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
  void fetch(Items& items) {
    Keyed::StatesOf::fetch_keys(items, key_of_);
  }
  template <class Use>
  void with(const In& item, std::uint32_t number, const Use& use) {
    using Arguments = typename NodeTypes<F>::Arguments;
    Keyed::StatesOf::template with<Arguments>(key_of_(item), number, use);
  }
  template <class... E>
  void close_before(F& code, const In& item, std::uint32_t number, E&... emit) {
    Keyed::StatesOf::close_before(code, item, number, key_of_, emit...);
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

  template <bool left, class Items>
  void fetch(Items& items) {
    Base::fetch_keys(items, key_of<left>());
  }
  template <bool left, class Item, class Use>
  void with(const Item& item, std::uint32_t number, const Use& use) {
    using Arguments = std::conditional_t<left, typename Types::L, typename Types::R>;
    Base::template with<Arguments>(key_of<left>()(item), number, use);
  }
  template <bool left, class Item, class... E>
  void close_before(F& code, const Item& item, std::uint32_t number, E&... emit) {
    Base::close_before(code, item, number, key_of<left>(), emit...);
  }

 private:
  template <bool left>
  const auto& key_of() const {
    if constexpr (left) {
      return of_left_;
    } else {
      return of_right_;
    }
  }

  KeyOfLeft of_left_;
  KeyOfRight of_right_;
};

}  // namespace piracema::detail
