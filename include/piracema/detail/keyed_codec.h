#pragma once

#include <piracema/codec.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

namespace piracema::detail {

template <class T>
inline constexpr bool coded_by_cereal = requires {
  Codec<T>::by_cereal;
};

/// Has `put(writer)` and `get(reader)` in place of a Codec.
template <class T>
concept CodesItself = requires {
  typename T::CodedByItself;
};

/// Keys and values one behind the other, each as its Codec has it.
class KeyedWriter {
 public:
  explicit KeyedWriter(Buffer& out)
      : out_(out), writer_(out), stream_(&writer_), archive_(stream_) {}

  template <class T>
  void put(const T& value) {
    if constexpr (CodesItself<T>) {
      value.put(*this);
    } else if constexpr (coded_by_cereal<T>) {
      archive_(value);
    } else if constexpr (Codec<T>::fixed_bytes != 0) {
      Codec<T>::encode(value, out_);
    } else {
      const std::size_t at = out_.size();
      out_.extend(sizeof(std::uint64_t));
      Codec<T>::encode(value, out_);
      number_at(at, out_.size() - at - sizeof(std::uint64_t));
    }
  }
  void number(std::uint64_t value) {
    const std::size_t at = out_.size();
    out_.extend(sizeof value);
    number_at(at, value);
  }
  /// A number that is small as a rule, and bytes of that length.
  void bytes(Bytes value) {
    *out_.extend(1) = static_cast<std::byte>(std::min<std::size_t>(value.size(), long_bytes));
    if (value.size() >= long_bytes) number(value.size());
    out_.append(value.data(), value.size());
  }
  /// As cereal has it.
  template <class T>
  void members(const T& value) {
    archive_(value);
  }
  /// Over one that was put before.
  void number_at(std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      out_.data()[at + i] = static_cast<std::byte>(value >> (8 * i));
    }
  }

 private:
  friend class KeyedReader;
  /// Their length does not fit into a byte.
  static constexpr std::size_t long_bytes = 255;

  Buffer& out_;
  BufferWriter writer_;
  std::ostream stream_;
  cereal::BinaryOutputArchive archive_;
};

/// Reads them back from bytes that may hold anything. Throws DecodeError.
class KeyedReader {
 public:
  explicit KeyedReader(Bytes in) : bytes_(in), stream_(&bytes_), archive_(stream_) {}

  template <class T>
  T get() {
    if constexpr (CodesItself<T>) {
      return T::get(*this);
    } else if constexpr (coded_by_cereal<T>) {
      T value{};
      members(value);
      return value;
    } else if constexpr (Codec<T>::fixed_bytes != 0) {
      return Codec<T>::decode(bytes_.take(Codec<T>::fixed_bytes));
    } else {
      const std::uint64_t length = number();
      return Codec<T>::decode(bytes_.take(length));
    }
  }
  Bytes bytes() {
    const auto length = static_cast<std::size_t>(bytes_.take(1).front());
    return bytes_.take(length < KeyedWriter::long_bytes ? length : number());
  }
  template <class T>
  void members(T& value) {
    try {
      archive_(value);
    } catch (const std::exception& error) {
      throw DecodeError(std::string("not a value of the type wanted: ") + error.what());
    }
  }
  std::uint64_t number() {
    const Bytes from = bytes_.take(sizeof(std::uint64_t));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
    }
    return value;
  }
  std::size_t left() { return static_cast<std::size_t>(bytes_.in_avail()); }

 private:
  class Taking final : public BufferReader {
   public:
    using BufferReader::BufferReader;
    Bytes take(std::uint64_t count) {
      const auto left = static_cast<std::uint64_t>(egptr() - gptr());
      if (count > left) wrong_size(static_cast<std::size_t>(count), static_cast<std::size_t>(left));
      char* const from = gptr();
      setg(eback(), from + count, egptr());
      return {reinterpret_cast<const std::byte*>(from), static_cast<std::size_t>(count)};
    }
  };

  Taking bytes_;
  std::istream stream_;
  cereal::BinaryInputArchive archive_;
};

}  // namespace piracema::detail
