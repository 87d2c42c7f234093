#pragma once

#include <piracema/bytes.h>
#include <piracema/codec.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <vector>

/// What streams run on. A program made of blocks needs none of it, and may use its names.
namespace piracema::engine {

/// Where a batch stands in the order of the replica that a later ordered node goes by.
///
/// A batch may be cut into parts that take different ways; every part carries a share of
/// `whole`, and the batch is complete again when the shares add up (weight throwing, after
/// Huang 1989: no count of the parts has to be known to anybody).
struct Order {
  static constexpr std::uint64_t whole = std::uint64_t{1} << 48;
  /// What a farm emits when its stream has ended comes from no item, and has no place.
  static constexpr std::uint64_t no_sequence = ~std::uint64_t{0};
  /// The replica that started the order.
  std::uint32_t origin = 0;
  std::uint64_t sequence = 0;
  std::uint64_t share = whole;
};

}  // namespace piracema::engine

namespace piracema::detail {
/// Calls `use` with what `make()` returns, a T or perhaps one; false if there is none.
template <class T, class Make, class Use>
bool with_made(const Make& make, const Use& use) {
  if constexpr (std::is_same_v<std::invoke_result_t<const Make&>, std::optional<T>>) {
    std::optional<T> item = make();
    if (!item) return false;
    use(*std::move(item));
  } else {
    use(make());
  }
  return true;
}
}  // namespace piracema::detail

namespace piracema::engine {

/// Its bytes in a batch are those it has in memory, so that a T may be made there: what copies it
/// would else read what has just been written in other pieces, and wait until all that was written
/// before has reached memory that another core has just read.
template <class T>
concept MadeInPlace = requires {
  Codec<T>::as_in_memory;
}
&&alignof(T) <= alignof(std::max_align_t);

/// Items on their way from one replica to another: the unit that is queued, sent and credited.
///
/// Items of one size lie one behind the other; others have their length, a uint32, before them.
/// So an item that was handed over is all the bytes of its batch. Identifiers are not stored while
/// they count upwards by one.
struct Batch {
  std::uint32_t count = 0;
  /// Size of every item, or 0 where each has its own length.
  std::uint32_t item_bytes = 0;
  /// Identifier of the first item; of all of them in `ids` where they do not count upwards.
  std::uint64_t first_id = 0;
  /// Which input of the receiving node it came by. Set there; does not travel.
  std::uint32_t input = 0;
  Order order;
  std::vector<std::uint64_t> ids;
  /// Each item's place in its batch before it was cut into parts; empty while it is whole.
  std::vector<std::uint32_t> positions;
  Buffer data;

  std::uint64_t id(std::uint32_t index) const {
    return ids.empty() ? first_id + index : ids[index];
  }

  void add_id(std::uint64_t id) {
    // By far most: kept so short that it is part of the caller's loop.
    if (count != 0 && id == first_id + count && ids.empty()) [[likely]]
      return;
    add_other_id(id);
  }

  /// Appends an item. All items of one batch have one type.
  template <class T>
  void add(std::uint64_t id, const T& item) {
    add_id(id);
    if constexpr (Codec<T>::fixed_bytes != 0) {
      item_bytes = Codec<T>::fixed_bytes;
      Codec<T>::encode(item, data);
    } else {
      if constexpr (HandedOver<T>) say_lengths();
      const std::size_t at = data.size();
      data.extend(sizeof(std::uint32_t));
      Codec<T>::encode(item, data);
      close_item(at);
    }
    count += 1;
  }

  /// Appends what `make()` returns, a T or perhaps one (std::optional<T>): it is made where it is
  /// to lie. False if there is none; then, and if it throws, nothing is appended.
  template <MadeInPlace T, class Make>
  bool add_made(std::uint64_t id, const Make& make) {
    using Made = std::invoke_result_t<const Make&>;
    data.reserve(data.size() + sizeof(Made));
    // Items of one size and type lie one behind the other from where memory of any type may begin.
    std::byte* const room = data.data() + data.size();
    if constexpr (sizeof(T) >= 64) detail::write_soon(room);
    Made* const made = new (room) Made(make());
    if constexpr (!std::is_same_v<Made, T>) {
      if (!*made) return false;
      // By far all libraries have it at the beginning of the optional, and this is no copy.
      std::memmove(room, std::addressof(**made), sizeof(T));
    }
    add_id(id);
    item_bytes = sizeof(T);
    data.resize(data.size() + sizeof(T));
    count += 1;
    return true;
  }

  /// Appends an item of a type that is handed over, by its bytes. The first one of a batch keeps
  /// its memory if it is no less than `handed_over_bytes_min`; others are copied.
  void add_handed(std::uint64_t id, Buffer bytes);

 private:
  /// The first one, or one that does not count upwards with the others.
  void add_other_id(std::uint64_t id);

  /// Puts a length before each item, where one was handed over and others come behind it.
  void say_lengths();

  static std::uint32_t length_of(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::uint32_t>::max()) {
      throw DecodeError("an item of " + std::to_string(bytes) + " bytes is above the limit, 4 GiB");
    }
    return static_cast<std::uint32_t>(bytes);
  }

  void close_item(std::size_t at) {
    const std::uint32_t length = length_of(data.size() - at - sizeof length);
    std::memcpy(data.data() + at, &length, sizeof length);
  }
};

/// Walks over the items of a batch. Bounds are checked: a batch may have come from a peer.
class BatchReader {
 public:
  explicit BatchReader(const Batch& batch) : batch_(batch), rest_(batch.data) {}

  /// The bytes of the next item; call it `batch.count` times. Throws DecodeError past the end.
  Bytes next() {
    std::size_t length = batch_.item_bytes;
    if (length == 0) {
      std::uint32_t prefix = 0;
      std::memcpy(&prefix, take(sizeof prefix).data(), sizeof prefix);
      length = prefix;
    }
    return take(length);
  }

 private:
  Bytes take(std::size_t length) {
    if (length > rest_.size()) detail::wrong_size(length, rest_.size());
    const Bytes item = rest_.first(length);
    rest_ = rest_.subspan(length);
    return item;
  }

  const Batch& batch_;
  Bytes rest_;
};

}  // namespace piracema::engine
