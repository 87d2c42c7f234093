#pragma once

#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_rows.h>
#include <piracema/detail/stored_states.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// Rows outside of memory; to code what KeyedRows is. Those of a key lie one behind the other, its
/// own before those of its collections.
template <class Key>
class StoredRows final : public StateTypes {
  using View = RowView<Key>;

 public:
  explicit StoredRows(RowCheck check) : check_(std::move(check)) {}

  /// Once, before all else.
  void lie_in(StatePlace& place) { states_ = place.make(*this); }
  KeyedStates& states() { return *states_; }

  bool get(const View& row, std::uint64_t mixed, Buffer& value) {
    if (!states_->get(mixed, bytes_of(row), found_)) return false;
    const Bytes found = KeyedReader(found_).bytes();
    value.clear();
    value.append(found.data(), found.size());
    return true;
  }
  bool put(const View& row, std::uint64_t mixed, Bytes value) {
    const bool is_new = !states_->get(mixed, bytes_of(row), found_);
    value_.clear();
    value_writer_.bytes(value);
    if (is_new || as_text(value_) != as_text(found_)) states_->put(mixed, row_, value_);
    return is_new;
  }
  bool erase(const View& row, std::uint64_t mixed) {
    if (!states_->get(mixed, bytes_of(row), found_)) return false;
    states_->erase(mixed, row_);
    return true;
  }
  void erase_all(const Key& key, std::uint64_t mixed) {
    std::vector<Buffer> all;
    for_each_row(key, mixed, {}, [&](Bytes row) { all.emplace_back(row); });
    for (const Buffer& row : all) states_->erase(mixed, row);
  }

  template <class Use>
  void for_each(const Key& key, std::uint64_t mixed, std::uint8_t collection, const Use& use) {
    const char number = static_cast<char>(collection);
    for_each_row(key, mixed, {&number, 1}, [&](Bytes row) {
      const auto read = KeyedReader(row).get<RowKey<Key>>();
      use(as_bytes(std::string_view(read.entry).substr(1)));
    });
  }
  /// Calls `use(key, mixed)` for every key, in the order of their hashes. `use` may change rows.
  template <class Use>
  void for_each_key(const Use& use) {
    states_->for_each(0, {}, [&](std::uint64_t mixed, Bytes row, Bytes) {
      const auto read = KeyedReader(row).get<RowKey<Key>>();
      if (read.entry.empty()) use(read.key, mixed);
      return true;
    });
  }
  /// As KeyedTable has it. A look reads past what has been erased of late.
  static constexpr std::uint32_t sweep_fourths = 2;
  /// Calls `use(key, value)` for the rows of some keys, others each time until it has seen all, and
  /// is false then: it begins again. `use` changes nothing.
  template <class Use>
  bool look_at_some_keys(const Use& use) {
    for (std::uint32_t looked = 0; looked < looked_at_once; ++looked) {
      bool is_end = true;
      states_->for_each(next_mixed_, next_, [&](std::uint64_t mixed, Bytes row, Bytes value) {
        is_end = false;
        const auto read = KeyedReader(row).get<RowKey<Key>>();
        if (read.entry.empty()) use(read.key, KeyedReader(value).bytes());
        // Behind all collections of the key.
        next_mixed_ = mixed;
        next_.clear();
        KeyedWriter writer(next_);
        writer.put(read.key);
        writer.put(std::uint8_t{255});
        return false;
      });
      if (!is_end) continue;
      next_mixed_ = 0;
      next_.clear();
      return false;
    }
    return true;
  }

  void write_back() override {}
  void reads(std::uint32_t) override {}
  void read(Bytes unit, Form form, const std::function<void(const Entry&)>& use) const override {
    if (form == Form::counted) {
      throw DecodeError("it was saved by a version that knows no collections");
    }
    KeyedReader in(unit);
    const auto at = [&] { return unit.size() - in.left(); };
    while (in.left() != 0) {
      Entry entry;
      const auto what = in.get<std::uint8_t>();
      if (what > 1) throw DecodeError("it has an entry that is none");
      entry.has_state = what == 1;
      const std::size_t key_at = at();
      const auto row = in.get<RowKey<Key>>();
      entry.mixed = mix(KeyHash<Key>::of(row.key));
      const std::size_t state_at = at();
      entry.key = unit.subspan(key_at, state_at - key_at);
      if (entry.has_state) check_(as_bytes(row.entry), in.bytes());
      entry.state = unit.subspan(state_at, at() - state_at);
      use(entry);
    }
  }

 private:
  static constexpr std::uint32_t looked_at_once = 32;

  Bytes bytes_of(const View& row) {
    row_.clear();
    RowKey<Key>::put(row, row_writer_);
    return row_;
  }
  // Those whose bytes begin as those of the key do, and then `collection`.
  template <class Use>
  void for_each_row(const Key& key, std::uint64_t mixed, std::string_view collection,
                    const Use& use) {
    Buffer begin;
    KeyedWriter(begin).put(key);
    begin.append(collection.data(), collection.size());
    states_->for_each(mixed, begin, [&](std::uint64_t of, Bytes row, Bytes) {
      if (of != mixed || !as_text(row).starts_with(as_text(begin))) return false;
      use(row);
      return true;
    });
  }

  const RowCheck check_;
  std::unique_ptr<StoredStates> states_;
  /// Where the next look goes on.
  std::uint64_t next_mixed_ = 0;
  Buffer next_;
  Buffer row_, found_, value_;
  KeyedWriter row_writer_{row_}, value_writer_{value_};
};

}  // namespace piracema::detail
