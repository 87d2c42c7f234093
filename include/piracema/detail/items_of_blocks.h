#pragma once

#include <piracema/batch.h>
#include <piracema/bytes.h>
#include <piracema/codec.h>
#include <piracema/detail/assembly.h>
#include <piracema/detail/state_layout.h>
#include <piracema/graph.h>
#include <piracema/key.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

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

/// All items of a batch, where they lie in it as they would in memory; else none.
template <class In>
std::span<const In> items_in_memory([[maybe_unused]] const Batch& batch) {
  if constexpr (requires { Codec<In>::as_in_memory; }) {
    const auto* const first = batch.data.data();
    if (batch.item_bytes == sizeof(In) && batch.data.size() / sizeof(In) >= batch.count &&
        reinterpret_cast<std::uintptr_t>(first) % alignof(In) == 0) {
      return {std::launder(reinterpret_cast<const In*>(first)), batch.count};
    }
  }
  return {};
}

}  // namespace piracema::detail
