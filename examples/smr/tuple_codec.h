#pragma once

#include <piracema/bytes.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

/// Tuples, templates and operations of a TupleSpace, and how they become bytes.
struct TupleCodec {
  using Buffer = piracema::Buffer;
  using Bytes = piracema::Bytes;

  static constexpr std::size_t fields_max = 16;

  using Tuple = std::vector<std::string>;
  /// Matches tuples with as many fields that are equal where the template has one; nullopt is any.
  using Template = std::vector<std::optional<std::string>>;

  enum class Action : std::uint8_t {
    out,  ///< Puts a tuple.
    rdp,  ///< Reads the oldest that matches, if there is one.
    inp,  ///< Takes it out.
  };
  struct Operation {
    Action action = Action::rdp;
    Template fields;
  };

  static Buffer out(const Tuple& tuple) {
    return encode({Action::out, Template(tuple.begin(), tuple.end())});
  }
  static Buffer rdp(const Template& fields) { return encode({Action::rdp, fields}); }
  static Buffer inp(const Template& fields) { return encode({Action::inp, fields}); }
  /// The tuple that `rdp` or `inp` found; nullopt if none matched.
  static std::optional<Tuple> decode_reply(Bytes reply) {
    const auto operation = decode(reply);
    return operation ? tuple_of(*operation) : std::nullopt;
  }

  static Buffer encode(const Operation& operation) {
    Buffer out;
    append(out, static_cast<std::uint8_t>(operation.action));
    append(out, static_cast<std::uint8_t>(operation.fields.size()));
    for (const auto& field : operation.fields) {
      append(out, static_cast<std::uint8_t>(field.has_value()));
      if (!field) continue;
      append(out, static_cast<std::uint32_t>(field->size()));
      out.append(field->data(), field->size());
    }
    return out;
  }

  /// Nothing, if these bytes are no operation: any client may send them.
  static std::optional<Operation> decode(Bytes bytes) {
    Operation operation;
    std::uint8_t action = 0, count = 0;
    if (!take(bytes, action) || !take(bytes, count)) return std::nullopt;
    if (action > static_cast<std::uint8_t>(Action::inp) || count == 0 || count > fields_max) {
      return std::nullopt;
    }
    operation.action = static_cast<Action>(action);
    for (int i = 0; i < count; ++i) {
      std::uint8_t has_value = 0;
      std::uint32_t length = 0;
      if (!take(bytes, has_value)) return std::nullopt;
      auto& field = operation.fields.emplace_back();
      if (has_value == 0) continue;
      if (!take(bytes, length) || length > bytes.size()) return std::nullopt;
      field = std::string(piracema::as_text(bytes.first(length)));
      bytes = bytes.subspan(length);
    }
    if (!bytes.empty()) return std::nullopt;
    if (operation.action == Action::out && !tuple_of(operation)) return std::nullopt;
    return operation;
  }

  static bool matches(const Tuple& tuple, const Template& wanted) {
    return std::equal(wanted.begin(), wanted.end(), tuple.begin(),
                      [](const auto& want, const auto& has) { return !want || *want == has; });
  }

  static std::optional<Tuple> tuple_of(const Operation& operation) {
    Tuple tuple;
    for (const auto& field : operation.fields) {
      if (!field) return std::nullopt;
      tuple.push_back(*field);
    }
    return tuple;
  }

  template <class Number>
  static void append(Buffer& out, Number number) {
    out.append(&number, sizeof number);
  }
  template <class Number>
  static bool take(Bytes& from, Number& number) {
    if (from.size() < sizeof number) return false;
    std::memcpy(&number, from.data(), sizeof number);
    from = from.subspan(sizeof number);
    return true;
  }
};
