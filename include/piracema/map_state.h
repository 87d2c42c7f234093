#pragma once

#include <piracema/codec.h>
#include <piracema/detail/collection.h>
#include <piracema/key.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace piracema {

/// A map in the state of a key, of which each entry is read, written and saved by itself: what is
/// put into a map of a million entries costs one of them, in a snapshot and on disk.
///
///     struct Visits {
///       MapState<std::uint64_t, Page> pages;
///       std::int64_t count = 0;
///       template <class Archive>
///       void serialize(Archive& archive) { archive(pages, count); }
///     };
///     void operator()(const Click& click, Visits& visits, Emit<Alarm>& emit);
///
/// It is a member of the state, or the state itself; the state's `serialize` names it. Values are
/// given and taken, not referred to: an entry that is changed is put again.
///
/// Keys are the same if their Codec makes the same bytes of them. They need what a `by_key` needs.
template <class K, class V>
class MapState final : public detail::Collection {
  static_assert(KeyHash<K>::known && !detail::IsView<K>,
                "the keys of a MapState are numbers, texts (as std::string), or of a type all of "
                "whose bytes count");
  static_assert(!detail::has_collections<V>,
                "the values of a MapState hold no MapState or ListState themselves");

 public:
  /// Nothing if there is no such entry.
  std::optional<V> get(const K& key) const {
    Buffer value;
    if (!Collection::get(bytes_of(key), value)) return std::nullopt;
    return Codec<V>::decode(value);
  }
  bool has(const K& key) const {
    Buffer value;
    return Collection::get(bytes_of(key), value);
  }
  /// In place of one that may be there. What is as it was is not saved again.
  void put(const K& key, const V& value) {
    if (Collection::put(bytes_of(key), bytes_of(value))) size_ += 1;
  }
  /// False if there was none.
  bool erase(const K& key) {
    if (!Collection::erase(bytes_of(key))) return false;
    size_ -= 1;
    return true;
  }
  void clear() {
    erase_all();
    size_ = 0;
  }

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Calls `use(key, value)` for each entry, in the order of the keys: by `<`, or else by their
  /// bytes. All keys are in memory meanwhile, and of the values one. `use` may put and erase: what
  /// it puts under a key that was not there is not seen, nor what it erases.
  template <class Use>
  void for_each(const Use& use) const {
    for (const K& key : keys()) {
      if (std::optional<V> value = get(key)) use(key, std::as_const(*value));
    }
  }
  /// The keys, in that order.
  std::vector<K> keys() const {
    std::vector<K> all;
    Collection::for_each([&](Bytes entry) { all.push_back(Codec<K>::decode(entry)); });
    std::sort(all.begin(), all.end(), detail::comes_before<K>);
    return all;
  }

  /// For the runtime: what the row of the key has of it.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(size_);
  }
  template <class Layout>
  static void describe(Layout& layout) {
    layout.template collection<K, V>("MapState(");
  }
  void check(Bytes entry, Bytes value) const override {
    Codec<K>::decode(entry);
    Codec<V>::decode(value);
  }

 private:
  template <class T>
  static Buffer bytes_of(const T& value) {
    Buffer bytes;
    Codec<T>::encode(value, bytes);
    return bytes;
  }
  std::uint64_t size_ = 0;
};

}  // namespace piracema
