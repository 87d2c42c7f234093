#pragma once

#include <piracema/detail/collection.h>
#include <piracema/detail/expiry.h>
#include <piracema/detail/former_state.h>
#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_rows.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// The states of keys that have collections, in `Rows`: KeyedRows or StoredRows. To code what
/// KeyedTable is, for one key at a time, from `begin` to `done`.
template <class Rows, class Key, class V, bool expires>
class CollectedStates : private EntryAccess {
  static_assert(!HasBefore<V>,
                "a state with a MapState or a ListState cannot be made of a former one yet: it has "
                "no member type `Before`");

 public:
  CollectedStates() : rows_([this](Bytes entry, Bytes value) { check(entry, value); }) {}
  CollectedStates(const CollectedStates&) = delete;
  CollectedStates& operator=(const CollectedStates&) = delete;

  void lie_in(StatePlace& place) { rows_.lie_in(place); }
  KeyedStates& states() { return rows_.states(); }

  void expire_after(std::chrono::milliseconds ttl, std::function<WallTime()> clock) {
    expiry_.begin(ttl, std::move(clock));
  }
  void tick() {
    if (!expiry_.tick()) return;
    std::vector<Key> over;
    Expiry::Look look(expiry_, Rows::sweep_fourths);
    const auto see = [&](const Key& key, Bytes row) {
      if (look.is_over(changed_at(row))) over.push_back(key);
    };
    while (rows_.look_at_some_keys(see) && look.goes_on()) {
    }
    for (const Key& key : over) rows_.erase_all(key, mix(KeyHash<Key>::of(key)));
  }

  /// What is found and edited from here on, until `done`, is the state of this key.
  template <class K>
  void begin(const K& key, std::uint64_t mixed) {
    key_.emplace(key);
    mixed_ = mixed;
    is_read_ = is_edited_ = false;
  }
  /// All that was changed goes to the rows.
  void done() {
    if (is_edited_) write(expiry_.now());
  }

  template <class K>
  const V* find(const K&, std::uint64_t) {
    read();
    return has_state() ? &*value_ : nullptr;
  }
  template <class K>
  V& edit(const K&, std::uint64_t) {
    read();
    if (!has_state()) {
      if (is_over_) rows_.erase_all(*key_, mixed_);
      begin_value();
    }
    is_edited_ = true;
    return *value_;
  }
  template <class K>
  void erase(const K&, std::uint64_t) {
    read();
    if (has_state() || is_over_) rows_.erase_all(*key_, mixed_);
    is_there_ = is_edited_ = is_over_ = false;
  }

  /// Calls `use(key, value)` for every key, in the order of their hashes. `use` may change values.
  template <class Use>
  void for_each(const Use& use) {
    if constexpr (expires) tick();
    rows_.for_each_key([&](const Key& key, std::uint64_t mixed) {
      begin(key, mixed);
      read();
      if (!is_there_) return;
      use(std::as_const(*key_), *value_);
      write(changed_at(row_));  // To be visited makes it no younger.
    });
  }

 private:
  bool get(std::uint8_t collection, Bytes entry, Buffer& value) override {
    return rows_.get({*key_, entry_of(collection, entry)}, mixed_, value);
  }
  bool put(std::uint8_t collection, Bytes entry, Bytes value) override {
    return rows_.put({*key_, entry_of(collection, entry)}, mixed_, value);
  }
  bool erase(std::uint8_t collection, Bytes entry) override {
    return rows_.erase({*key_, entry_of(collection, entry)}, mixed_);
  }
  void for_each(std::uint8_t collection, const std::function<void(Bytes)>& use) override {
    rows_.for_each(*key_, mixed_, collection, use);
  }

  std::string_view entry_of(std::uint8_t collection, Bytes entry) {
    entry_.clear();
    *entry_.extend(1) = static_cast<std::byte>(collection);
    entry_.append(entry.data(), entry.size());
    return as_text(entry_);
  }

  bool has_state() const { return is_there_ || is_edited_; }

  // What the rows have of the key.
  void read() {
    if (std::exchange(is_read_, true)) return;
    is_there_ = rows_.get({*key_, {}}, mixed_, row_);
    is_over_ = is_there_ && expires && expiry_.is_over(changed_at(row_));
    is_there_ = is_there_ && !is_over_;
    if (!is_there_) return;
    begin_value();
    read_row(row_, *value_);
  }
  void begin_value() {
    value_.emplace();
    std::uint8_t number = 0;
    for (Collection* const one : finder_.find_in(*value_)) one->lie_in(*this, ++number);
  }
  void write(std::int64_t changed) {
    written_.clear();
    if constexpr (expires) writer_.put(changed);
    writer_.members(*value_);
    if (!is_there_ || as_text(written_) != as_text(row_)) rows_.put({*key_, {}}, mixed_, written_);
  }

  // Of a key: the time if it expires, and what is no entry of a collection.
  static std::int64_t changed_at(Bytes row) {
    return expires ? KeyedReader(row).get<std::int64_t>() : 0;
  }
  static void read_row(Bytes row, V& value) {
    KeyedReader in(row);
    if constexpr (expires) in.get<std::int64_t>();
    in.members(value);
    if (in.left() != 0) left_over(in.left(), row.size());
  }

  void check(Bytes entry, Bytes value) const {
    V example{};
    if (entry.empty()) return read_row(value, example);
    CollectionFinder finder;
    const auto& collections = finder.find_in(example);
    const auto number = static_cast<std::size_t>(entry.front());
    if (number > collections.size()) {
      throw DecodeError("it has an entry of a collection that its state does not have");
    }
    collections[number - 1]->check(entry.subspan(1), value);
  }

  Rows rows_;
  Expiry expiry_;

  std::optional<Key> key_;
  std::uint64_t mixed_ = 0;
  /// What is known of the state of the key: its row was read, and it was there and not over; it was
  /// over; code may have changed it.
  bool is_read_ = false, is_there_ = false, is_over_ = false, is_edited_ = false;
  std::optional<V> value_;
  CollectionFinder finder_;
  Buffer row_, written_, entry_;
  KeyedWriter writer_{written_};
};

}  // namespace piracema::detail
