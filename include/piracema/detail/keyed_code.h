#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/expiring_table.h>
#include <piracema/detail/keyed_table.h>
#include <piracema/detail/state_layout.h>
#include <piracema/key.h>
#include <piracema/keyed_state.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema::detail {

using namespace engine;

/// Code without a state for each key.
struct NoKeys {
  static constexpr bool keyed = false;
  template <class F>
  void open(const F&, const Context&) {
    static_assert(!HasTtl<F>,
                  "state_ttl() is for code with a state for each key: a V& behind the item");
  }
  template <class Item, class Use>
  void with(const Item&, const Use& use) {
    use();
  }
};

/// What a key is kept as: a text as a string.
template <class Key>
struct KeptKey {
  using type = std::conditional_t<is_text_key<Key>, std::string, Key>;
};

/// Code that is called with the state of the item's key.
template <class F, class In, class KeyOf>
class Keyed {
  using Types = NodeTypes<F>;
  using State = typename Types::State;
  using Found = std::decay_t<std::invoke_result_t<const KeyOf&, const In&>>;
  using Key = typename KeptKey<Found>::type;
  static constexpr bool expires = HasTtl<F>;
  using Table = std::conditional_t<expires, ExpiringTable<Key, State>, KeyedTable<Key, State>>;

 public:
  static constexpr bool keyed = true;
  explicit Keyed(KeyOf key_of) : key_of_(std::move(key_of)) {}

  KeyedStates& states() { return table_; }

  void open(const F& code, const Context& context) {
    if constexpr (expires) table_.expire_after(code.state_ttl(), context.now);
  }

  template <class Use>
  void with(const In& item, const Use& use) {
    const auto& key = key_of_(item);
    const std::uint64_t mixed = mix(KeyHash<Found>::of(key));
    if constexpr (expires) table_.tick();
    if constexpr (Types::Arguments::edits_state) {
      use(table_.edit(key, mixed));
    } else {
      Access access(table_, key, mixed);
      KeyedState<State> state(access);
      use(state);
    }
  }

  template <class... E>
  void finish(F& code, E&... emit) {
    if constexpr (requires(const Key& key, State& state) { code.finish(key, state, emit...); }) {
      table_.for_each([&](const Key& key, State& state) { code.finish(key, state, emit...); });
    }
  }

  std::string layout(const std::string& own) const {
    StateLayout keys, values;
    keys.encoded<Key>();
    values.encoded<State>();
    return "keys(" + keys.text() + ", " + values.text() + (expires ? " with its time" : "") + ")" +
           (own == "nothing" ? "" : " and " + own);
  }

 private:
  class Access final : public StateAccess<State> {
   public:
    Access(Table& table, const Found& key, std::uint64_t mixed)
        : table_(table), key_(key), mixed_(mixed) {}
    const State* find() const override { return table_.find(key_, mixed_); }
    State& edit() override { return table_.edit(key_, mixed_); }
    void erase() override { table_.erase(key_, mixed_); }

   private:
    Table& table_;
    const Found& key_;
    std::uint64_t mixed_;
  };

  KeyOf key_of_;
  Table table_;
};

}  // namespace piracema::detail
