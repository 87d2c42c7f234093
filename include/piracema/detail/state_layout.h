#pragma once

#include <piracema/codec.h>
#include <piracema/detail/collection.h>

#include <array>
#include <cereal/cereal.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace piracema::detail {

class StateLayout;

// What cereal says of a type, for the archive that writes states and for the one that records.
template <class T>
inline constexpr bool read_by_binary =
    cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value;
template <class T>
inline constexpr bool read_by_layout = cereal::traits::is_input_serializable<T, StateLayout>::value;

template <class T>
inline constexpr bool has_own_members =
    cereal::traits::has_member_serialize<T, StateLayout>::value ||
    cereal::traits::has_member_load<T, StateLayout>::value;

template <class T>
inline constexpr bool has_plain_serialize =
    cereal::traits::has_member_serialize<T, StateLayout>::value&& read_by_layout<T> &&
    !cereal::traits::is_specialized<T, StateLayout>::value;

/// Standard types whose elements are told by their types: an empty one would show none. By their
/// members where that spares users the header.
enum class Kind {
  number,
  array,
  text,
  map,
  list,
  fixed,
  pair,
  tuple,
  optional,
  variant,
  pointer,
  time,
  bits,
  other
};

template <class T>
struct KindOf {
  static constexpr Kind kind() {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      return Kind::number;
    } else if constexpr (std::is_array_v<T>) {
      return Kind::array;
    } else if constexpr (!std::is_class_v<T>) {
      return Kind::other;
    } else if constexpr (has_own_members<T>) {
      return Kind::other;
    } else if constexpr (requires {
                           typename T::allocator_type;
                           typename T::key_type;
                           typename T::mapped_type;
                         }) {
      return Kind::map;
    } else if constexpr (requires {
                           typename T::allocator_type;
                           typename T::value_type;
                         }) {
      return Kind::list;
    } else {
      return Kind::other;
    }
  }
  static constexpr Kind value = kind();
};
template <>
struct KindOf<std::string> {
  static constexpr Kind value = Kind::text;
};
template <class T, std::size_t N>
struct KindOf<std::array<T, N>> {
  static constexpr Kind value = Kind::fixed;
};
template <class A, class B>
struct KindOf<std::pair<A, B>> {
  static constexpr Kind value = Kind::pair;
};
template <class... T>
struct KindOf<std::tuple<T...>> {
  static constexpr Kind value = Kind::tuple;
};
template <class T>
struct KindOf<std::optional<T>> {
  static constexpr Kind value = Kind::optional;
};
template <class T, class D>
struct KindOf<std::unique_ptr<T, D>> {
  static constexpr Kind value = Kind::pointer;
};
template <class T>
struct KindOf<std::shared_ptr<T>> {
  static constexpr Kind value = Kind::pointer;
};
template <class T>
struct KindOf<std::weak_ptr<T>> {
  static constexpr Kind value = Kind::pointer;
};
template <class Rep, class Period>
struct KindOf<std::chrono::duration<Rep, Period>> {
  static constexpr Kind value = Kind::time;
};
template <class Clock, class Duration>
struct KindOf<std::chrono::time_point<Clock, Duration>> {
  static constexpr Kind value = Kind::time;
};
// std::variant and std::bitset, without their headers.
template <template <class...> class V, class... T>
requires requires(const V<T...>& v) {
  v.valueless_by_exception();
  v.index();
}
struct KindOf<V<T...>> {
  static constexpr Kind value = Kind::variant;
};
template <template <std::size_t> class B, std::size_t N>
requires requires(const B<N>& b) {
  b.to_ullong();
  b.count();
}
struct KindOf<B<N>> {
  static constexpr Kind value = Kind::bits;
};

/// What a state is made of, as text: "{map(string, i64), u32}". An archive that is read from: it
/// gives zeros, leaves containers as they are, and notes what was asked for, in this order. So it
/// is what `serialize` reads of a state, whatever the values in the operator are.
///
/// Two members of one type that change places look the same, unless they have names (CEREAL_NVP).
/// A loop behind a size tag is told by its first turn; one behind a plain number has none. Of a
/// class with versions the oldest layout is told. What cannot be looked into (a class that names
/// its archive, say) is told by the name of its type.
class StateLayout : public cereal::InputArchive<StateLayout, cereal::AllowEmptyClassElision> {
  using Base = cereal::InputArchive<StateLayout, cereal::AllowEmptyClassElision>;

 public:
  StateLayout() : Base(this) {}

  const std::string& text() const { return text_; }
  bool says_nothing() const { return text_.empty() || text_ == "{}"; }

  template <class... T>
  StateLayout& operator()(T&&... values) {
    (value(values), ...);
    return *this;
  }
  template <class T>
  StateLayout& operator&(T&& one) {
    return (*this)(one);
  }
  template <class T>
  StateLayout& operator>>(T&& one) {
    return (*this)(one);
  }
  void loadBinary(void* to, std::streamsize count) {
    word("bytes");
    clear(to, static_cast<std::uint64_t>(count));
  }

  /// What a value of this type is made of.
  template <class T>
  void type() {
    constexpr Kind kind = KindOf<T>::value;
    if constexpr (std::is_enum_v<T>) {
      type<std::underlying_type_t<T>>();
    } else if constexpr (kind == Kind::number) {
      constexpr char sort = std::is_same_v<T, bool>       ? 'b'
                            : std::is_floating_point_v<T> ? 'f'
                            : std::is_signed_v<T>         ? 'i'
                                                          : 'u';
      number(sort, sizeof(T));
    } else if constexpr (kind == Kind::text) {
      word("string");
    } else if constexpr (kind == Kind::map) {
      several<typename T::key_type, typename T::mapped_type>("map(");
    } else if constexpr (kind == Kind::list) {
      several<typename T::value_type>("list(");
    } else if constexpr (kind == Kind::array) {
      using Element = std::remove_all_extents_t<T>;
      array<Element>(sizeof(T) / sizeof(Element));
    } else if constexpr (kind == Kind::fixed) {
      array<typename T::value_type>(std::tuple_size_v<T>);
    } else if constexpr (kind == Kind::pair) {
      several<std::remove_const_t<typename T::first_type>, typename T::second_type>("(");
    } else if constexpr (kind == Kind::tuple) {
      all_of(static_cast<T*>(nullptr), "(");
    } else if constexpr (kind == Kind::variant) {
      all_of(static_cast<T*>(nullptr), "variant(");
    } else if constexpr (kind == Kind::optional) {
      several<typename T::value_type>("optional(");
    } else if constexpr (kind == Kind::pointer) {
      if constexpr (std::is_polymorphic_v<typename T::element_type>) {
        open("pointer(");
        opaque(typeid(typename T::element_type));
        close(")");
      } else {
        several<std::remove_const_t<typename T::element_type>>("pointer(");
      }
    } else if constexpr (kind == Kind::time) {
      const std::string unit =
          std::to_string(T::period::num) + "/" + std::to_string(T::period::den);
      several<typename T::rep>("", " * " + unit + " s");
    } else if constexpr (kind == Kind::bits) {
      array<bool>(T{}.size());
    } else {
      class_type<T>();
    }
  }

  /// The same as `Codec<T>` writes it.
  template <class T>
  void encoded() {
    if constexpr (has_collections<T>) {
      type<T>();
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                         std::is_same_v<T, std::string>) {
      type<T>();
    } else if constexpr (requires(StateLayout & layout) { T::describe(layout); }) {
      T::describe(*this);
    } else if constexpr (RawCopied<T> || requires { Codec<T>::as_in_memory; }) {
      raw(sizeof(T));
    } else if constexpr (requires { Codec<T>::by_cereal; }) {
      // Of one that it cannot save Codec has told already.
      if constexpr (Codec<T>::by_cereal) type<T>();
    } else if constexpr (requires { Codec<typename T::value_type>::as_in_memory; }) {
      open("list(");
      encoded<typename T::value_type>();
      close(")");
    } else {
      opaque(typeid(T));
    }
  }

  /// A collection whose entries are made of these, each as `Codec` writes it.
  template <class... T>
  void collection(const std::string& before) {
    open(before);
    (encoded<T>(), ...);
    close(")");
  }

  /// What `object` reads. Ends with a mark where it throws, as it may at values that are all zero.
  template <class T>
  void read(T& object) {
    try {
      this->value(object);
    } catch (...) {
      text_ += mark_of_end;
    }
  }

 private:
  static constexpr const char* mark_of_end = "...";

  template <class T>
  void value(T& value) {
    using V = std::remove_const_t<T>;
    if constexpr (is_collection<V>) return V::describe(*this);
    check_serialize<V>();
    static_assert(read_by_binary<V> || std::is_empty_v<V>,
                  "a member of a state or an item cannot be saved: a class needs a `serialize`, a "
                  "standard type its <cereal/types/...> header");
    if constexpr (KindOf<V>::value == Kind::other) {
      object(value);
    } else {
      if constexpr (KindOf<V>::value == Kind::number && !std::is_const_v<T>) value = V();
      type<V>();
    }
  }
  template <class T>
  void value(cereal::NameValuePair<T>& named) {
    name(named.name);
    value(named.value);
  }
  template <class T>
  void value(cereal::SizeTag<T>& tag) {
    tag.size = 1;
    word("size");
  }
  template <class T>
  void value(cereal::BinaryData<T>& data) {
    using Element = std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>;
    if constexpr (std::is_arithmetic_v<Element>) {
      several<Element>("list(");
    } else {
      word("bytes");
    }
    clear(const_cast<void*>(static_cast<const void*>(data.data)), data.size);
  }
  template <class T>
  void value(cereal::base_class<T>& base) {
    value(*base.base_ptr);
  }
  template <class T>
  void value(cereal::virtual_base_class<T>& base) {
    Base::operator()(base);
  }
  template <class T>
  void value(cereal::DeferredData<T>& data) {
    Base::operator()(data);
  }

  template <class T>
  void object(T& object) {
    if constexpr (!read_by_layout<T> || const_serialize<T>) {
      opaque(typeid(T));
    } else {
      enter(typeid(T));
      if constexpr (has_plain_serialize<T>) {
        cereal::access::member_serialize(*this, object);
      } else {
        Base::operator()(object);
      }
      leave();
    }
  }
  // One of its own: there may be none to look at.
  template <class T>
  void class_type() {
    if constexpr (!cereal::traits::is_default_constructible<T>::value) {
      opaque(typeid(T));
    } else if (is_within(typeid(T))) {
      word("^");
    } else {
      const std::unique_ptr<T> one(cereal::access::construct<T>());
      value(*one);
    }
  }
  template <class... T>
  void several(const std::string& before, const std::string& after = ")") {
    static_assert((!has_collections<T> && ...),
                  "a MapState or a ListState is a member of a state, and not an element of "
                  "something in it");
    open(before);
    (type<T>(), ...);
    close(after);
  }
  template <class T>
  void array(std::size_t count) {
    several<T>("", " * " + std::to_string(count));
  }
  template <template <class...> class Of, class... T>
  void all_of(const Of<T...>*, const std::string& before) {
    several<T...>(before);
  }

  static void clear(void* at, std::uint64_t count) {
    if (at != nullptr && count != 0) std::memset(at, 0, count);
  }
  void word(const std::string& text);
  void number(char sort, std::size_t bytes);
  void raw(std::size_t bytes);
  void opaque(const std::type_info& type);
  void name(const char* text);
  void open(const std::string& text);
  void close(const std::string& text);
  void enter(const std::type_info& type);
  void leave();
  bool is_within(const std::type_info& type) const;

  std::string text_;
  bool follows_ = false;
  std::vector<const std::type_info*> within_;
};

/// For what cereal reads by itself: versions of classes, and what stands for a class
/// (load_minimal).
template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(StateLayout& layout, T& value) { layout(value); }
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(StateLayout& layout, cereal::NameValuePair<T>& value) {
  layout(value);
}

/// Never called. A compiler that meets it before anything else that saves a T says first what is
/// wrong with T's members in our words.
template <class T>
void look_at_members(StateLayout& layout, T& object) {
  if constexpr (has_plain_serialize<T> && !const_serialize<T>) {
    cereal::access::member_serialize(layout, object);
  }
}
template <class... T>
constexpr void look_at() {
  (static_cast<void>(&look_at_members<T>), ...);
}

}  // namespace piracema::detail

namespace cereal::traits::detail {
template <>
struct get_output_from_input<piracema::detail::StateLayout> {
  using type = cereal::BinaryOutputArchive;
};
}  // namespace cereal::traits::detail
