#pragma once

#include <piracema/bytes.h>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace piracema::wire {

/// Writes a number (little endian) where there is room for it.
template <std::unsigned_integral N>
void write_number(std::byte* at, N value) {
  for (std::size_t i = 0; i < sizeof(N); ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

/// Appends numbers (little endian) and texts to a buffer.
class Writer {
 public:
  explicit Writer(Buffer& out) : out_(out) {}

  template <std::unsigned_integral N>
  void number(N value) {
    write_number(out_.extend(sizeof(N)), value);
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
