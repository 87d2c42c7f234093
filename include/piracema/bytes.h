#pragma once

#include <piracema/detail/kept_memory.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace piracema {

/// Bytes somebody else owns.
using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace detail {
/// Says that memory some items ahead of `at` is about to be written, as another core may have it:
/// 10 to 15 % more records a second from one thread to another (`bench_keyed_count`). A mere hint.
inline void write_soon(const std::byte* at) {
  constexpr std::size_t ahead = 2048;
#if defined(__x86_64__)
  // GCC makes a read of __builtin_prefetch for processors without the instruction, of 2004.
  asm volatile("prefetchw %0" : : "m"(*(at + ahead)));
#else
  __builtin_prefetch(at + ahead, 1);
#endif
}
}  // namespace detail

/// A growing run of bytes. Unlike a vector it does not clear what is about to be overwritten.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Bytes bytes) { append(bytes.data(), bytes.size()); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer& other) : Buffer(Bytes(other)) {}
  Buffer& operator=(const Buffer& other) {
    Buffer(other).swap(*this);
    return *this;
  }
  ~Buffer() { give_back(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  operator Bytes() const { return {data_, size_}; }

  /// Keeps the memory.
  void clear() { size_ = 0; }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }

  /// The new bytes hold anything until they are written.
  void resize(std::size_t size) {
    reserve(size);
    size_ = size;
  }

  /// Room for `count` more bytes, to be written by the caller.
  std::byte* extend(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    std::byte* room = data_ + size_;
    size_ += count;
    return room;
  }

  void append(const void* from, std::size_t count) {
    if (count != 0) std::memcpy(extend(count), from, count);
  }

  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void grow(std::size_t at_least) {
    std::size_t capacity = capacity_ < 64 ? 64 : capacity_ + capacity_ / 2;
    if (capacity < at_least) capacity = at_least;
    if (is_kept(capacity) || is_kept(capacity_)) {
      void* data = detail::take_memory(capacity);
      if (size_ != 0) std::memcpy(data, data_, size_);
      give_back();
      data_ = static_cast<std::byte*>(data);
    } else {
      void* data = std::realloc(data_, capacity);
      if (data == nullptr) throw std::bad_alloc();
      data_ = static_cast<std::byte*>(data);
    }
    capacity_ = capacity;
  }

  static bool is_kept(std::size_t capacity) {
    return capacity >= detail::kept_bytes_min && capacity <= detail::kept_bytes_max;
  }
  void give_back() {
    if (is_kept(capacity_)) {
      detail::give_memory(data_, capacity_);
    } else {
      std::free(data_);
    }
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace piracema
