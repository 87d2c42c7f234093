#pragma once

#include <piracema/bytes.h>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace piracema::wire {

/// Appends numbers (little endian) and texts to a buffer.
class Writer {
 public:
  explicit Writer(Buffer& out) : out_(out) {}

  template <std::unsigned_integral N>
  void number(N value) {
    std::byte* room = out_.extend(sizeof(N));
    for (std::size_t i = 0; i < sizeof(N); ++i) {
      room[i] = static_cast<std::byte>(value >> (8 * i));
    }
  }

  void bytes(Bytes value) {
    number(static_cast<std::uint64_t>(value.size()));
    out_.append(value.data(), value.size());
  }
  /// Without its length.
  void raw(Bytes value) { out_.append(value.data(), value.size()); }
  void text(std::string_view value) { bytes(as_bytes(value)); }

 private:
  Buffer& out_;
};

}  // namespace piracema::wire
