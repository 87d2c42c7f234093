#pragma once

#include <piracema/codec.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/stored_states.h>
#include <piracema/key.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// The states of keys, outside of memory: to code what KeyedTable is. One state is in memory, that
/// of the key that was asked for last; when another one is, it is written if it was changed.
template <class Key, class V>
class StoredTable : public StateTypes {
 public:
  StoredTable() = default;
  StoredTable(const StoredTable&) = delete;
  StoredTable& operator=(const StoredTable&) = delete;

  /// Once, before all else.
  void lie_in(StatePlace& place) { states_ = place.make(*this); }
  KeyedStates& states() { return *states_; }

  /// The state of the key with this mixed hash; `V{}` if it had none. Until the next call.
  template <class K>
  V& edit(const K& key, std::uint64_t mixed) {
    if (find(key, mixed) == nullptr) value_ = V{};
    found_ = changed_ = true;
    return value_;
  }

  template <class K>
  const V* find(const K& key, std::uint64_t mixed) {
    asked_.clear();
    asked_writer_.put(as_key(key));
    if (is_held_ && mixed == mixed_ && as_text(asked_) == as_text(key_)) {
      return found_ ? &value_ : nullptr;
    }
    write_back();
    is_held_ = false;
    key_.clear();
    key_.append(asked_.data(), asked_.size());
    mixed_ = mixed;
    found_ = states_->get(mixed, key_, bytes_);
    if (found_) value_ = KeyedReader(bytes_).get<V>();
    is_held_ = true;
    return found_ ? &value_ : nullptr;
  }

  template <class K>
  void erase(const K& key, std::uint64_t mixed) {
    if (find(key, mixed) == nullptr) return;
    states_->erase(mixed, key_);
    found_ = changed_ = false;
  }

  /// Calls `use(key, value)` for every key, in the order of their hashes. `use` may change values.
  template <class Use>
  void for_each(const Use& use) {
    forget();
    states_->for_each(0, {}, [&](std::uint64_t mixed, Bytes key, Bytes state) {
      V value = KeyedReader(state).get<V>();
      use(KeyedReader(key).get<Key>(), value);
      bytes_.clear();
      bytes_writer_.put(value);
      if (as_text(bytes_) != as_text(state)) states_->put(mixed, key, bytes_);
      return true;
    });
  }

  /// A look at every key, bit by bit while they change: `look_at_next` calls
  /// `use(key, value, mixed)` for the next ones, in the order of their hashes, and is false if
  /// there are none left. One that comes meanwhile may be missed.
  void begin_look() { look_ = 0; }
  template <class Use>
  bool look_at_next(const Use& use) {
    if (!look_) return false;
    forget();
    const std::uint64_t from = *std::exchange(look_, std::nullopt);
    std::uint32_t looked = 0;
    std::uint64_t last = from;
    states_->for_each(from, {}, [&](std::uint64_t mixed, Bytes key, Bytes state) {
      // Those of one hash come together.
      if (looked >= looked_at_once && mixed != last) {
        look_ = mixed;
        return false;
      }
      const V value = KeyedReader(state).get<V>();
      use(KeyedReader(key).get<Key>(), value, mixed);
      looked += 1;
      last = mixed;
      return true;
    });
    return looked != 0;
  }

  /// As KeyedTable has it. A look reads past what has been erased of late.
  static constexpr std::uint32_t sweep_fourths = 2;
  /// Looks at some keys, others each time until it has seen all, and is false then: it begins
  /// again. Those whose value is `over` are erased.
  template <class Over>
  bool sweep(const Over& over) {
    forget();
    std::vector<std::pair<std::uint64_t, Buffer>> gone;
    std::uint32_t looked = 0;
    std::uint64_t next = 0;
    states_->for_each(sweep_, {}, [&](std::uint64_t mixed, Bytes key, Bytes state) {
      if (over(KeyedReader(state).get<V>())) gone.emplace_back(mixed, Buffer(key));
      next = mixed + 1;
      return ++looked < looked_at_once;
    });
    sweep_ = looked < looked_at_once ? 0 : next;
    for (const auto& [mixed, key] : gone) states_->erase(mixed, key);
    return sweep_ != 0;
  }

  void write_back() override {
    if (!changed_) return;
    bytes_.clear();
    bytes_writer_.put(value_);
    states_->put(mixed_, key_, bytes_);
    changed_ = false;
  }

  void reads(std::uint32_t ago) override { ago_ = ago; }

  void read(Bytes unit, Form form, const std::function<void(const Entry&)>& use) const override {
    KeyedReader in(unit);
    Buffer now;
    const auto at = [&] { return unit.size() - in.left(); };
    std::uint64_t left = form == Form::counted ? in.number() : 0;
    while (form == Form::counted ? left-- != 0 : in.left() != 0) {
      Entry entry;
      if (form == Form::marked) {
        const auto what = in.get<std::uint8_t>();
        if (what > 1) throw DecodeError("it has an entry that is none");
        entry.has_state = what == 1;
      }
      const std::size_t key_at = at();
      entry.mixed = mix(KeyHash<Key>::of(in.get<Key>()));
      const std::size_t state_at = at();
      entry.key = unit.subspan(key_at, state_at - key_at);
      if (entry.has_state && ago_ != 0) {
        now.clear();
        KeyedWriter(now).put(read_state<V>(in, ago_));
        entry.state = now;
      } else {
        if (entry.has_state) in.get<V>();
        entry.state = unit.subspan(state_at, at() - state_at);
      }
      use(entry);
    }
    if (in.left() != 0) left_over(in.left(), unit.size());
  }

 private:
  static constexpr std::uint32_t looked_at_once = 32;

  // What it is kept as: a text as a string.
  template <class K>
  static decltype(auto) as_key(const K& key) {
    if constexpr (std::is_same_v<K, Key>) {
      return (key);
    } else {
      return Key(key);
    }
  }

  // Others may be about to change what it has in memory.
  void forget() {
    write_back();
    is_held_ = false;
  }

  std::unique_ptr<StoredStates> states_;
  /// The key that was asked for last, and its state if it has one.
  bool is_held_ = false, found_ = false, changed_ = false;
  std::uint64_t mixed_ = 0;
  Buffer key_;
  V value_{};
  /// As `reads` says.
  std::uint32_t ago_ = 0;
  /// Where the next `sweep` goes on, and `look_at_next`.
  std::uint64_t sweep_ = 0;
  std::optional<std::uint64_t> look_;
  Buffer asked_, bytes_;
  KeyedWriter asked_writer_{asked_}, bytes_writer_{bytes_};
};

}  // namespace piracema::detail
