#pragma once

#include <piracema/codec.h>

#include <cereal/cereal.hpp>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace piracema::detail {

/// The entries of the collections of one key, wherever they lie, as bytes. Collections are counted
/// from 1.
class EntryAccess {
 public:
  virtual ~EntryAccess() = default;
  /// False if there is none.
  virtual bool get(std::uint8_t collection, Bytes entry, Buffer& value) = 0;
  /// False if there was one. What is as it was is not written.
  virtual bool put(std::uint8_t collection, Bytes entry, Bytes value) = 0;
  /// False if there was none.
  virtual bool erase(std::uint8_t collection, Bytes entry) = 0;
  /// In no order. `use` changes nothing.
  virtual void for_each(std::uint8_t collection, const std::function<void(Bytes entry)>& use) = 0;
};

/// A part of the state of a key whose entries are read, written and saved each by itself: what
/// MapState and ListState are made of. It is found in a state by the state's `serialize`.
class Collection {
 public:
  static constexpr std::uint8_t number_max = 250;

  Collection() = default;
  /// The new one is in no state.
  Collection(Collection&&) noexcept {}
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;
  /// It does not throw; see has_collections.
  virtual ~Collection() noexcept(false) {}

  void lie_in(EntryAccess& access, std::uint8_t number) {
    access_ = &access;
    number_ = number;
  }
  /// Throws DecodeError for bytes that are no entry of it.
  virtual void check(Bytes entry, Bytes value) const = 0;

 protected:
  bool get(Bytes entry, Buffer& value) const { return access().get(number_, entry, value); }
  bool put(Bytes entry, Bytes value) { return access().put(number_, entry, value); }
  bool erase(Bytes entry) { return access().erase(number_, entry); }
  void for_each(const std::function<void(Bytes entry)>& use) const {
    access().for_each(number_, use);
  }
  void erase_all() {
    std::vector<Buffer> all;
    for_each([&](Bytes entry) { all.emplace_back(entry); });
    for (const Buffer& entry : all) erase(entry);
  }

 private:
  EntryAccess& access() const {
    if (access_ == nullptr) {
      throw std::logic_error(
          "a MapState or a ListState is used that the `serialize` of its state does not name");
    }
    return *access_;
  }

  EntryAccess* access_ = nullptr;
  std::uint8_t number_ = 0;
};

template <class T>
inline constexpr bool is_collection = std::is_base_of_v<Collection, T>;

/// Finds the collections of a state: an archive that is given its members, and leaves them as they
/// are.
class CollectionFinder {
 public:
  using is_loading = std::false_type;
  using is_saving = std::false_type;

  /// In the order of `serialize`: the first one has number 1. Throws std::length_error.
  template <class V>
  const std::vector<Collection*>& find_in(V& state) {
    found_.clear();
    member(state);
    return found_;
  }

  template <class... T>
  CollectionFinder& operator()(T&&... members) {
    (member(members), ...);
    return *this;
  }
  template <class T>
  CollectionFinder& operator&(T&& one) {
    return (*this)(one);
  }

 private:
  template <class T>
  void member([[maybe_unused]] T& one) {
    if constexpr (is_collection<T>) {
      if (found_.size() == Collection::number_max) {
        throw std::length_error("the state of a key has more than 250 collections");
      }
      found_.push_back(&one);
    } else if constexpr (has_collections<T>) {
      constexpr bool named = cereal::traits::has_member_serialize<T, CollectionFinder>::value;
      static_assert(named,
                    "a class with a MapState or a ListState names its members in a `serialize`, "
                    "and these are members, not elements of something");
      if constexpr (named) cereal::access::member_serialize(*this, one);
    }
  }
  template <class T>
  void member(cereal::NameValuePair<T>& named) {
    member(named.value);
  }
  template <class T>
  void member(cereal::base_class<T>& base) {
    member(*base.base_ptr);
  }

  std::vector<Collection*> found_;
};

}  // namespace piracema::detail
