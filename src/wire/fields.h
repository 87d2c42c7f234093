#pragma once

#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::wire {

/// Messages list their fields once, for writing and for reading:
///
///     struct Ready {
///       Epoch epoch = 0;
///       auto fields() { return std::tie(epoch); }
///     };
///
/// A field is a number, bool, enum, double, duration, text, Buffer, array, optional, vector, map,
/// or a struct with fields.
class FieldWriter {
 public:
  explicit FieldWriter(Buffer& out) : writer_(out) {}

  template <class T>
  void put(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      writer_.number(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      writer_.number(bits);
    } else if constexpr (std::is_enum_v<T>) {
      writer_.number(static_cast<std::uint8_t>(value));
    } else if constexpr (std::unsigned_integral<T>) {
      writer_.number(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      writer_.text(value);
    } else if constexpr (std::is_same_v<T, Buffer>) {
      writer_.bytes(value);
    } else {
      std::apply([this](auto&... field) { (put(field), ...); }, value.fields());
    }
  }
  template <std::size_t N>
  void put(std::array<std::byte, N>& value) {
    writer_.raw(value);
  }
  template <class T, std::size_t N>
  void put(std::array<T, N>& list) {
    for (T& value : list) put(value);
  }
  template <class T>
  void put(std::vector<T>& list) {
    writer_.number(static_cast<std::uint64_t>(list.size()));
    for (T& value : list) put(value);
  }
  template <class T>
  void put(std::optional<T>& value) {
    writer_.number(static_cast<std::uint8_t>(value.has_value()));
    if (value) put(*value);
  }
  template <class Period>
  void put(std::chrono::duration<std::int64_t, Period>& value) {
    writer_.number(static_cast<std::uint64_t>(value.count()));
  }
  template <class Key, class T>
  void put(std::map<Key, T>& map) {
    writer_.number(static_cast<std::uint64_t>(map.size()));
    for (auto& [key, value] : map) {
      Key copy = key;
      put(copy);
      put(value);
    }
  }

 private:
  Writer writer_;
};

class FieldReader {
 public:
  explicit FieldReader(Bytes in) : reader_(in) {}

  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = reader_.number<std::uint8_t>() != 0;
    } else if constexpr (std::is_same_v<T, double>) {
      const auto bits = reader_.number<std::uint64_t>();
      std::memcpy(&value, &bits, sizeof bits);
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(reader_.number<std::uint8_t>());
    } else if constexpr (std::unsigned_integral<T>) {
      value = reader_.number<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = reader_.text();
    } else if constexpr (std::is_same_v<T, Buffer>) {
      value = Buffer(reader_.bytes());
    } else {
      std::apply([this](auto&... field) { (get(field), ...); }, value.fields());
    }
  }
  template <std::size_t N>
  void get(std::array<std::byte, N>& value) {
    const Bytes from = reader_.raw(N);
    if (from.size() == N) std::memcpy(value.data(), from.data(), N);
  }
  template <class T, std::size_t N>
  void get(std::array<T, N>& list) {
    for (T& value : list) get(value);
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.clear();
    // Every element takes a byte at least, so a length that lies cannot ask for much memory.
    const std::size_t count = reader_.count(1);
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) get(list.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (reader_.number<std::uint8_t>() != 0) get(value.emplace());
  }
  template <class Period>
  void get(std::chrono::duration<std::int64_t, Period>& value) {
    value = std::chrono::duration<std::int64_t, Period>(
        static_cast<std::int64_t>(reader_.number<std::uint64_t>()));
  }
  template <class Key, class T>
  void get(std::map<Key, T>& map) {
    map.clear();
    const std::size_t count = reader_.count(1);
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) {
      Key key{};
      get(key);
      get(map[std::move(key)]);
    }
  }

  /// For what is read by hand in between.
  Reader& reader() { return reader_; }

  Result<Done> finish() { return reader_.finish(); }

 private:
  Reader reader_;
};

template <class Message>
Buffer encode(Message message) {
  Buffer out;
  FieldWriter(out).put(message);
  return out;
}

/// Errc::corrupt if `in` is not exactly one such message.
template <class Message>
Result<Message> decode(Bytes in) {
  Message message;
  FieldReader reader(in);
  reader.get(message);
  if (auto finished = reader.finish(); !finished) return finished.error();
  return message;
}

}  // namespace piracema::wire
