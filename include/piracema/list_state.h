#pragma once

#include <piracema/codec.h>
#include <piracema/detail/collection.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace piracema {

/// A list in the state of a key, of which each element is read, written and saved by itself, and
/// which grows and shrinks at both ends: the last events of a session, a queue. As MapState it is a
/// member of the state, or the state itself.
template <class T>
class ListState final : public detail::Collection {
  static_assert(!detail::has_collections<T>,
                "the elements of a ListState hold no MapState or ListState themselves");

 public:
  std::uint64_t size() const { return end_ - first_; }
  bool empty() const { return size() == 0; }

  /// Counted from 0. Throws std::out_of_range.
  T get(std::uint64_t at) const { return element(number(at)); }
  T front() const { return get(0); }
  T back() const { return get(size() - 1); }
  /// In place of what is there. What is as it was is not saved again. Throws std::out_of_range.
  void set(std::uint64_t at, const T& value) { write(number(at), value); }

  void push_back(const T& value) {
    write(end_, value);
    end_ += 1;
  }
  void push_front(const T& value) {
    write(first_ - 1, value);
    first_ -= 1;
  }
  /// Throw std::out_of_range if it is empty.
  void pop_front() {
    erase(entry_of(number(0)));
    first_ += 1;
  }
  void pop_back() {
    erase(entry_of(number(size() - 1)));
    end_ -= 1;
  }
  void clear() {
    erase_all();
    first_ = end_ = middle;
  }

  /// Calls `use(value)` for each element, the first one first. `use` may change the list: it is
  /// called for what is there then.
  template <class Use>
  void for_each(const Use& use) const {
    for (std::uint64_t at = 0; at < size(); ++at) {
      const T value = get(at);
      use(value);
    }
  }

  /// For the runtime: what the row of the key has of it.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first_, end_);
    if (first_ > end_) throw std::out_of_range("a list ends before it begins");
  }
  template <class Layout>
  static void describe(Layout& layout) {
    layout.template collection<T>("ListState(");
  }
  void check(Bytes entry, Bytes value) const override {
    if (entry.size() != sizeof(std::uint64_t)) {
      detail::wrong_size(sizeof(std::uint64_t), entry.size());
    }
    Codec<T>::decode(value);
  }

 private:
  /// Elements have numbers that stay theirs, from here on in both directions.
  static constexpr std::uint64_t middle = std::uint64_t{1} << 63;
  using Entry = std::array<std::byte, sizeof(std::uint64_t)>;

  // So that the order of bytes is theirs.
  static Entry entry_of(std::uint64_t number) {
    Entry entry;
    for (std::size_t i = 0; i < entry.size(); ++i) {
      entry[i] = static_cast<std::byte>(number >> (8 * (entry.size() - 1 - i)));
    }
    return entry;
  }
  std::uint64_t number(std::uint64_t at) const {
    if (at < size()) return first_ + at;
    throw std::out_of_range("a list has " + std::to_string(size()) + " elements, and no number " +
                            std::to_string(at));
  }
  T element(std::uint64_t number) const {
    Buffer value;
    if (!Collection::get(entry_of(number), value)) throw DecodeError("an element is not there");
    return Codec<T>::decode(value);
  }
  void write(std::uint64_t number, const T& value) {
    Buffer bytes;
    Codec<T>::encode(value, bytes);
    put(entry_of(number), bytes);
  }

  std::uint64_t first_ = middle, end_ = middle;
};

}  // namespace piracema
