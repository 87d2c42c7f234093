#pragma once

#include <piracema/detail/keyed_codec.h>
#include <piracema/detail/keyed_table.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// Throws DecodeError for a row that no state of this type has. Of the row of the key `entry` is
/// empty, else it begins with the number of the collection.
using RowCheck = std::function<void(Bytes entry, Bytes value)>;

/// What the state of a key that has collections is kept as: a row for what else it has, and one for
/// each entry.
template <class Key>
struct RowView {
  const Key& key;
  /// Empty, or the number of the collection and what the entry is found by.
  std::string_view entry;
};
template <class Key>
struct RowKey {
  struct CodedByItself;
  Key key;
  std::string entry;

  RowKey(Key of_key, std::string of_entry) : key(std::move(of_key)), entry(std::move(of_entry)) {}
  explicit RowKey(const RowView<Key>& view) : key(view.key), entry(view.entry) {}
  bool operator==(const RowView<Key>& other) const {
    return entry == other.entry && key == other.key;
  }
  bool operator==(const RowKey& other) const {
    return *this == RowView<Key>{other.key, other.entry};
  }

  // All rows of a collection begin alike: so those on disk lie together.
  template <class Writer>
  static void put(const RowView<Key>& row, Writer& writer) {
    writer.put(row.key);
    writer.put(static_cast<std::uint8_t>(row.entry.empty() ? 0 : row.entry.front()));
    if (!row.entry.empty()) writer.bytes(as_bytes(row.entry.substr(1)));
  }
  template <class Writer>
  void put(Writer& writer) const {
    put({key, entry}, writer);
  }
  template <class Reader>
  static RowKey get(Reader& in) {
    Key key = in.template get<Key>();
    std::string entry;
    if (const auto collection = in.template get<std::uint8_t>(); collection != 0) {
      entry += static_cast<char>(collection);
      entry += as_text(in.bytes());
    }
    return {std::move(key), std::move(entry)};
  }
};
struct RowBytes {
  struct CodedByItself;
  std::string bytes;

  template <class Writer>
  void put(Writer& writer) const {
    writer.bytes(as_bytes(bytes));
  }
  template <class Reader>
  static RowBytes get(Reader& in) {
    return {std::string(as_text(in.bytes()))};
  }
};

/// How many bits behind those of the group the rows of a key share: so many that few others are
/// looked at for those of one key, and so few that the directory of a group, which has at most 64
/// times as many places as segments, can divide those of one key that has many.
inline constexpr std::uint32_t row_bits = 5;

template <class Key>
struct MixedHash<RowKey<Key>> {
  static std::uint64_t of(std::uint64_t mixed_key, std::string_view entry, KeyGroups groups) {
    if (entry.empty()) return mixed_key;
    const std::uint64_t own = ~std::uint64_t{0} >> (groups.bits() + row_bits);
    return (mixed_key & ~own) | (mix(mixed_key ^ hash_of_bytes(as_bytes(entry))) & own);
  }
  static std::uint64_t of(const RowKey<Key>& row, KeyGroups groups) {
    return of(mix(KeyHash<Key>::of(row.key)), row.entry, groups);
  }
};

/// Rows in memory.
template <class Key>
class KeyedRows final : public KeyedTable<RowKey<Key>, RowBytes> {
  using Base = KeyedTable<RowKey<Key>, RowBytes>;
  using View = RowView<Key>;

 public:
  explicit KeyedRows(RowCheck check) : check_(std::move(check)) {}

  KeyedStates& states() { return *this; }

  void load(const HashRange&, Bytes) override {
    throw DecodeError("it was saved by a version that knows no collections");
  }
  std::uint64_t replay(std::uint32_t group, Bytes bytes, std::uint8_t number) override {
    for (KeyedReader in(bytes); in.left() != 0;) {
      const auto what = in.get<std::uint8_t>();
      const auto row = in.get<RowKey<Key>>();
      if (what != 0) check_(as_bytes(row.entry), as_bytes(in.get<RowBytes>().bytes));
    }
    return Base::replay(group, bytes, number);
  }

  bool get(const View& row, std::uint64_t mixed, Buffer& value) const {
    const RowBytes* const found = Base::find(row, mixed_of(row, mixed));
    if (found == nullptr) return false;
    value.clear();
    value.append(found->bytes.data(), found->bytes.size());
    return true;
  }
  bool put(const View& row, std::uint64_t mixed, Bytes value) {
    const std::uint64_t own = mixed_of(row, mixed);
    const RowBytes* const found = Base::find(row, own);
    const bool is_new = found == nullptr;
    if (is_new || found->bytes != as_text(value)) Base::edit(row, own).bytes = as_text(value);
    return is_new;
  }
  bool erase(const View& row, std::uint64_t mixed) {
    const std::uint64_t before = Base::size();
    Base::erase(row, mixed_of(row, mixed));
    return Base::size() != before;
  }
  void erase_all(const Key& key, std::uint64_t mixed) {
    std::vector<std::string> all;
    Base::look_near(mixed, row_bits, [&](const RowKey<Key>& row, const RowBytes&, std::uint64_t) {
      if (row.key == key) all.push_back(row.entry);
    });
    for (const std::string& entry : all) erase({key, entry}, mixed);
  }

  template <class Use>
  void for_each(const Key& key, std::uint64_t mixed, std::uint8_t collection,
                const Use& use) const {
    Base::look_near(mixed, row_bits, [&](const RowKey<Key>& row, const RowBytes&, std::uint64_t) {
      if (row.entry.empty() || static_cast<std::uint8_t>(row.entry.front()) != collection) return;
      if (row.key == key) use(as_bytes(std::string_view(row.entry).substr(1)));
    });
  }
  /// Calls `use(key, mixed)` for every key, in the order of their hashes. `use` may change rows.
  template <class Use>
  void for_each_key(const Use& use) {
    std::vector<std::pair<std::uint64_t, Key>> keys;
    for (std::uint32_t group = Base::owned().first; group < Base::owned().end; ++group) {
      keys.clear();
      const std::uint64_t first = std::uint64_t{group} << (64 - Base::groups().bits());
      Base::look_near(first, 0, [&](const RowKey<Key>& row, const RowBytes&, std::uint64_t) {
        if (row.entry.empty()) keys.emplace_back(mix(KeyHash<Key>::of(row.key)), row.key);
      });
      std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : comes_before(a.second, b.second);
      });
      for (const auto& [mixed, key] : keys) use(key, mixed);
    }
  }
  /// Calls `use(key, value)` for the rows of some keys, others each time until it has seen all, and
  /// is false then: it begins again. `use` changes nothing.
  template <class Use>
  bool look_at_some_keys(const Use& use) {
    return Base::look_at_some([&](const RowKey<Key>& row, const RowBytes& value, std::uint64_t) {
      if (row.entry.empty()) use(row.key, as_bytes(value.bytes));
    });
  }

 private:
  std::uint64_t mixed_of(const View& row, std::uint64_t mixed) const {
    return MixedHash<RowKey<Key>>::of(mixed, row.entry, Base::groups());
  }

  const RowCheck check_;
};

}  // namespace piracema::detail
