#pragma once

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
  ~Buffer() { std::free(data_); }

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
    void* data = std::realloc(data_, capacity);
    if (data == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(data);
    capacity_ = capacity;
  }

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace piracema
