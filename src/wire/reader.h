#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <concepts>
#include <cstdint>
#include <string>

namespace piracema::wire {

/// Reads what a Writer wrote, from bytes that may hold anything.
///
/// Past a mistake every value read is empty and `error()` tells the first one: read a whole
/// message, then ask once. Nothing is allocated that is larger than the bytes at hand.
class Reader {
 public:
  explicit Reader(Bytes in) : rest_(in) {}

  template <std::unsigned_integral N>
  N number() {
    const Bytes from = take(sizeof(N));
    N value = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      value = static_cast<N>(value | static_cast<N>(static_cast<N>(from[i]) << (8 * i)));
    }
    return value;
  }

  Bytes bytes() {
    const auto length = number<std::uint64_t>();
    return take(length);
  }
  /// Exactly so many bytes, or none.
  Bytes raw(std::size_t length) { return take(length); }
  std::string text() { return std::string(as_text(bytes())); }

  /// The number of elements that follow, each of at least `bytes_each` bytes.
  std::size_t count(std::size_t bytes_each) {
    const auto value = number<std::uint64_t>();
    if (bytes_each != 0 && value > rest_.size() / bytes_each) {
      fail("a list of " + std::to_string(value) + " elements");
      return 0;
    }
    return static_cast<std::size_t>(value);
  }

  /// Notes that what was read makes no sense.
  void fail(std::string what) {
    if (what_.empty()) what_ = std::move(what) + " does not fit the bytes that are there";
    rest_ = {};
  }

  bool ok() const { return what_.empty(); }
  std::size_t left() const { return rest_.size(); }

  /// Done if everything was read and nothing was wrong; else Errc::corrupt.
  Result<Done> finish() {
    if (ok() && !rest_.empty()) what_ = std::to_string(rest_.size()) + " bytes are left over";
    if (!ok()) return Error{Errc::corrupt, what_};
    return Done{};
  }

 private:
  Bytes take(std::uint64_t length) {
    if (!ok()) return {};
    if (length > rest_.size()) {
      fail("a field of " + std::to_string(length) + " bytes");
      return {};
    }
    const Bytes from = rest_.first(static_cast<std::size_t>(length));
    rest_ = rest_.subspan(static_cast<std::size_t>(length));
    return from;
  }

  Bytes rest_;
  std::string what_;
};

}  // namespace piracema::wire
