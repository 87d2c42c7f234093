#pragma once

#include <piracema/batch.h>
#include <piracema/bytes.h>
#include <piracema/codec.h>
#include <piracema/detail/assembly.h>
#include <piracema/detail/state_layout.h>
#include <piracema/graph.h>
#include <piracema/key.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

/// Items as blocks know them, by their types: where they go, and how they come out of a batch.
namespace piracema::detail {

using namespace engine;

template <class T>
std::string name_of_type() {
  return demangle(typeid(T).name());
}

template <class In, class KeyOf>
Router key_router(KeyOf key_of) {
  using Key = std::decay_t<decltype(key_of(std::declval<const In&>()))>;
  return [key_of](const void* item) -> std::uint64_t {
    return KeyHash<Key>::of(key_of(*static_cast<const In*>(item)));
  };
}
template <class In, class Route>
Router number_router(Route route) {
  return [route](const void* item) {
    return static_cast<std::uint64_t>(route(*static_cast<const In*>(item)));
  };
}

/// The item in `bytes`, which lie in `batch`: with their memory where it may be handed over.
template <class In>
In item_of(Batch& batch, Bytes bytes) {
  if constexpr (HandedOver<In>) {
    if (bytes.size() == batch.data.size()) return Codec<In>::take_over(std::move(batch.data));
  }
  return Codec<In>::decode(bytes);
}

/// What items of this type are, as `Codec` writes them: Operator::layout_of_items.
template <class T>
std::string layout_of_encoded() {
  StateLayout layout;
  layout.encoded<T>();
  return layout.text();
}

/// Calls `use` with the item: without a copy where it lies in `bytes` as it would in memory.
template <class In, class Use>
void with_item(Batch& batch, Bytes bytes, const Use& use) {
  if constexpr (requires { Codec<In>::as_in_memory; }) {
    if (bytes.size() != sizeof(In)) wrong_size(sizeof(In), bytes.size());
    // What was copied into a Buffer as bytes is an object there (C++20, [intro.object]/10).
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(In) == 0) {
      return use(*std::launder(reinterpret_cast<const In*>(bytes.data())));
    }
  }
  use(item_of<In>(batch, bytes));
}

/// Its items are decoded before they come, if that is worth it: each by itself, and not so large
/// that some of them drive each other out of the processor's first cache.
template <class In>
concept DecodedAhead = !requires {
  Codec<In>::as_in_memory;
}
&&!HandedOver<In> && std::is_move_constructible_v<In> && sizeof(In) <= 256;

/// The items of a batch, one after the other. `Looks`: somebody looks at some of them before they
/// come.
template <class In, bool Looks>
class BatchItems {
 public:
  using Item = In;
  /// The number of no item.
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  BatchItems(Batch& batch, Output& output) : batch_(batch), output_(output), reader_(batch) {}

  /// How many have come.
  std::uint32_t come() const { return come_; }

  /// Calls `use` with each that is not passed by and its number, and `look` with these items before
  /// each one.
  /// Throws DecodeError at one that is not what it should be.
  template <class Look, class Use>
  void for_each(const Look& look, const Use& use) {
    while (come_ < batch_.count) {
      look(*this);
      const Bytes item = reader_.next();
      const std::uint32_t at = come_++;
      if (!output_.begin_item(batch_, at, item)) continue;
      if constexpr (decodes) {
        if (at - decoded_from_ < decoded_.size()) {
          use(std::move(decoded_[at - decoded_from_]), at);
          continue;
        }
      }
      with_item<In>(batch_, item, [&](auto&& one) { use(std::forward<decltype(one)>(one), at); });
    }
  }
  template <class Use>
  void for_each(const Use& use) {
    for_each([](BatchItems&) {}, use);
  }

  /// Calls `use` with those that come next, at most `most` of them, and with none behind one that
  /// is not what it should be, or of which `use` throws: that one says so itself when it comes.
  template <class Use>
  void look_ahead(std::size_t most, const Use& use) {
    if (output_.passes_by()) return;
    most = std::min<std::size_t>(most, batch_.count - come_);
    std::uint32_t at = come_;
    try {
      if constexpr (decodes) {
        decoded_.clear();
        decoded_.reserve(most);
        decoded_from_ = come_;
        BatchReader ahead = reader_;
        for (std::size_t bytes = 0; decoded_.size() < most && bytes < decoded_bytes_max;) {
          const Bytes one = ahead.next();
          bytes += one.size();
          output_.look_at_item(batch_.id(at++));
          decoded_.push_back(Codec<In>::decode(one));
          use(std::as_const(decoded_.back()));
        }
      } else {
        const std::span<const In> all = items_in_memory();
        for (const In& one : all.subspan(std::min<std::size_t>(come_, all.size()))) {
          if (most-- == 0) break;
          output_.look_at_item(batch_.id(at++));
          use(one);
        }
      }
    } catch (...) {
      // Said when the item comes.
    }
  }

 private:
  static constexpr bool decodes = Looks && DecodedAhead<In>;
  static constexpr std::size_t decoded_bytes_max = std::size_t{16} << 10;
  struct Nothing {};

  /// All of them, where they lie in the batch as they would in memory; else none.
  std::span<const In> items_in_memory() const {
    if constexpr (requires { Codec<In>::as_in_memory; }) {
      const auto* const first = batch_.data.data();
      if (batch_.item_bytes == sizeof(In) && batch_.data.size() / sizeof(In) >= batch_.count &&
          reinterpret_cast<std::uintptr_t>(first) % alignof(In) == 0) {
        return {std::launder(reinterpret_cast<const In*>(first)), batch_.count};
      }
    }
    return {};
  }

  Batch& batch_;
  Output& output_;
  BatchReader reader_;
  std::uint32_t come_ = 0;
  /// Those from `decoded_from_` on that have been looked at; moved from once they have come.
  [[no_unique_address]] std::conditional_t<decodes, std::vector<In>, Nothing> decoded_;
  std::uint32_t decoded_from_ = 0;
};

}  // namespace piracema::detail
