#pragma once

#include <piracema/bytes.h>

#include <cstddef>
#include <cstdint>

#include "state/disk/saved_versions.h"

/// How the state of a key lies in a database. Two kinds of records: a key's, with its state behind
/// a head; and an index of nothing but keys, by version. Numbers begin with their highest byte, so
/// that the order of bytes is theirs. Pure.
namespace piracema::state::disk_record {

// Of a key: 'r', the mixed hash, the key. In the index: 'v', the version, the mixed hash, the key.
constexpr std::byte mark{'r'}, index_mark{'v'};
constexpr std::size_t number_bytes = sizeof(std::uint64_t);
constexpr std::size_t key_head_bytes = 1 + number_bytes,
                      index_key_head_bytes = 1 + 2 * number_bytes;
// The version, and what there is.
constexpr std::size_t head_bytes = number_bytes + 1;
constexpr std::byte bit_state{1}, bit_ever{2};

inline void put_number(std::uint64_t number, Buffer& out) {
  std::byte* const at = out.extend(number_bytes);
  for (std::size_t i = 0; i < number_bytes; ++i) {
    at[i] = static_cast<std::byte>(number >> (8 * (number_bytes - 1 - i)));
  }
}
/// What the bytes begin with.
inline std::uint64_t number_at(Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < number_bytes; ++i) {
    number = number << 8 | static_cast<std::uint64_t>(bytes[i]);
  }
  return number;
}

/// In place of what `out` has.
inline void put_key(std::uint64_t mixed, Bytes key, Buffer& out) {
  out.clear();
  *out.extend(1) = mark;
  put_number(mixed, out);
  out.append(key.data(), key.size());
}
inline void put_index_key(SavedVersions::Id version, std::uint64_t mixed, Bytes key, Buffer& out) {
  out.clear();
  *out.extend(1) = index_mark;
  put_number(version, out);
  put_number(mixed, out);
  out.append(key.data(), key.size());
}

/// Of the key of a key's record.
inline std::uint64_t mixed_of(Bytes record_key) { return number_at(record_key.subspan(1)); }
inline Bytes key_of(Bytes record_key) { return record_key.subspan(key_head_bytes); }
/// Of a key of the index.
inline SavedVersions::Id index_version_of(Bytes index_key) {
  return number_at(index_key.subspan(1));
}
inline std::uint64_t index_mixed_of(Bytes index_key) {
  return number_at(index_key.subspan(1 + number_bytes));
}
inline Bytes index_key_of(Bytes index_key) { return index_key.subspan(index_key_head_bytes); }

/// What a key's record begins with.
struct Head {
  SavedVersions::Id version = 0;
  bool has_state = false;
  /// A file may have something of this key.
  bool ever = false;
  bool operator==(const Head&) const = default;
};
inline Head head_of(Bytes record) {
  const std::byte bits = record[number_bytes];
  return {number_at(record), (bits & bit_state) != std::byte{0}, (bits & bit_ever) != std::byte{0}};
}
/// What is behind it.
inline Bytes state_of(Bytes record) { return record.subspan(head_bytes); }
/// In place of what `out` has.
inline void put(const Head& head, Bytes state, Buffer& out) {
  out.clear();
  put_number(head.version, out);
  *out.extend(1) =
      (head.has_state ? bit_state : std::byte{0}) | (head.ever ? bit_ever : std::byte{0});
  out.append(state.data(), state.size());
}

}  // namespace piracema::state::disk_record
