#pragma once

#include <piracema/bytes.h>

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <concepts>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <type_traits>
#include <vector>

namespace piracema {

/// Thrown by `Codec<T>::decode` when the bytes are not a T: says what was wanted and found.
class DecodeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a T travels between processes and lies in a snapshot.
///
/// Trivially copyable types are copied raw, strings and vectors of such types as their elements,
/// everything else by cereal (give the type a `serialize` member, and include the
/// <cereal/types/…> headers of the standard types inside it). Specialise it for your own layout:
///
///     static constexpr std::size_t fixed_bytes;        // of every T, or 0 when they differ
///     static void encode(const T&, Buffer& out);       // appends
///     static T decode(Bytes in);                       // all of `in`; throws DecodeError
///
/// A T that differs in size and whose bytes lie in a Buffer may be handed over instead of copied
/// (paper 004, section 3: a pair of functions that passes the memory on). Beside the others, and
/// with the same bytes as those:
///
///     static Buffer hand_over(T value);
///     static T take_over(Buffer bytes);                // throws DecodeError
///
/// Both ends are the same program on machines of the same byte order.
template <class T>
struct Codec;

/// Its memory goes from who emits it to who takes it: a T of `handed_over_bytes_min` or more that
/// is given away (`emit(std::move(t))`, or returned by a node) is a batch by itself, whose bytes
/// are the T's own.
template <class T>
concept HandedOver = Codec<T>::fixed_bytes == 0 && requires(T value, Buffer bytes) {
  { Codec<T>::hand_over(std::move(value)) } -> std::same_as<Buffer>;
  { Codec<T>::take_over(std::move(bytes)) } -> std::same_as<T>;
};

/// Smaller ones are copied into batches: there a message of its own costs more than the copy.
constexpr std::size_t handed_over_bytes_min = std::size_t{16} << 10;

namespace detail {

/// An argument of that type may be handed over: no reference to what somebody keeps.
template <class T>
concept GivenAway = !std::is_reference_v<T> && !std::is_const_v<T> && HandedOver<T>;

template <class T>
concept RawCopied = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

/// It is a MapState or a ListState, or has one as a member. These say that their destructors may
/// throw, which none does, so that those of classes with such members say so, too.
template <class T>
inline constexpr bool has_collections = std::is_class_v<T> && !std::is_nothrow_destructible_v<T>;

/// `serialize` of a state that cannot be restored by it.
template <class T>
inline constexpr bool const_serialize =
    std::is_class_v<T> && !std::is_empty_v<T> &&
    cereal::traits::has_member_serialize<const T, cereal::BinaryInputArchive>::value;

template <class T>
constexpr bool check_serialize() {
  static_assert(!const_serialize<T>,
                "`serialize` must not be const: what saves a state restores it, too");
  return !const_serialize<T>;
}

class BufferWriter : public std::streambuf {
 public:
  explicit BufferWriter(Buffer& out) : out_(out) {}

 private:
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    out_.append(from, static_cast<std::size_t>(count));
    return count;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    out_.append(&byte, 1);
    return c;
  }
  Buffer& out_;
};

class BufferReader : public std::streambuf {
 public:
  explicit BufferReader(Bytes in) {
    char* begin = const_cast<char*>(as_text(in).data());  // A streambuf reads through char*.
    setg(begin, begin, begin + in.size());
  }
};

[[noreturn]] inline void wrong_size(std::size_t want, std::size_t found) {
  throw DecodeError("a value of " + std::to_string(want) + " bytes was wanted, " +
                    std::to_string(found) + " bytes were found");
}

[[noreturn]] inline void left_over(std::size_t rest, std::size_t all) {
  throw DecodeError("of the " + std::to_string(all) + " bytes of its state " +
                    std::to_string(rest) +
                    " are left over: it was saved by a program whose state had another layout");
}

}  // namespace detail

template <detail::RawCopied T>
struct Codec<T> {
  static constexpr std::size_t fixed_bytes = sizeof(T);
  /// The bytes are those that the value has in memory.
  static constexpr bool as_in_memory = true;
  static void encode(const T& value, Buffer& out) { out.append(&value, sizeof(T)); }
  static T decode(Bytes in) {
    if (in.size() != sizeof(T)) detail::wrong_size(sizeof(T), in.size());
    alignas(T) std::byte room[sizeof(T)];
    std::memcpy(room, in.data(), sizeof(T));
    return *std::launder(reinterpret_cast<T*>(room));
  }
};

template <>
struct Codec<std::string> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const std::string& value, Buffer& out) {
    out.append(value.data(), value.size());
  }
  static std::string decode(Bytes in) { return std::string(as_text(in)); }
};

template <>
struct Codec<Buffer> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const Buffer& value, Buffer& out) { out.append(value.data(), value.size()); }
  static Buffer decode(Bytes in) { return Buffer(in); }
  static Buffer hand_over(Buffer value) { return value; }
  static Buffer take_over(Buffer bytes) { return bytes; }
};

template <detail::RawCopied E>
requires(!std::is_same_v<E, bool>) struct Codec<std::vector<E>> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const std::vector<E>& value, Buffer& out) {
    out.append(value.data(), value.size() * sizeof(E));
  }
  static std::vector<E> decode(Bytes in) {
    if (in.size() % sizeof(E) != 0) detail::wrong_size(sizeof(E), in.size() % sizeof(E));
    std::vector<E> value(in.size() / sizeof(E));
    if (!in.empty()) std::memcpy(value.data(), in.data(), in.size());
    return value;
  }
};

template <class T>
struct Codec {
  static_assert(
      !detail::has_collections<T>,
      "a MapState or a ListState is the state of a key, or a member of it: it is no item, "
      "nor within one");
  static constexpr bool by_cereal =
      detail::check_serialize<T>() &&
      cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
      cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value;
  static_assert(!std::is_pointer_v<T>, "a pointer means nothing in another process: send a value");
  static_assert(std::is_pointer_v<T> || by_cereal || detail::const_serialize<T>,
                "a type that is not trivially copyable needs a `serialize` member, and its own "
                "members need their <cereal/types/...> headers");
  static constexpr std::size_t fixed_bytes = 0;

  static void encode(const T& value, Buffer& out) {
    if constexpr (by_cereal) {
      detail::BufferWriter writer(out);
      std::ostream stream(&writer);
      cereal::BinaryOutputArchive archive(stream);
      archive(value);
    }
  }
  static T decode(Bytes in) {
    T value{};
    if constexpr (by_cereal) {
      detail::BufferReader reader(in);
      std::istream stream(&reader);
      try {
        cereal::BinaryInputArchive archive(stream);
        archive(value);
      } catch (const std::exception& error) {
        throw DecodeError(std::string("not a value of the type wanted: ") + error.what());
      }
      if (reader.in_avail() > 0) {
        throw DecodeError(std::to_string(reader.in_avail()) + " bytes are left after the value");
      }
    }
    return value;
  }
};

}  // namespace piracema
