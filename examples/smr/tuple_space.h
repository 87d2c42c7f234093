#pragma once

#include <piracema/smr/groups.h>
#include <piracema/smr/state_machine.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The tuple space of paper 003, section 4.2 (Gelernter 1985): a memory that is asked by content.
/// One list for each number of fields, the oldest tuple first.
class TupleSpace final : public piracema::smr::StateMachine {
  using Buffer = piracema::Buffer;
  using Bytes = piracema::Bytes;

 public:
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

  /// Which operations conflict; paper 003 compares these two.
  enum class Conflicts {
    all,       ///< `out` and `inp` with all others (its TS1).
    by_arity,  ///< Those with as many fields, if one of them changes something (its TS2).
  };

  explicit TupleSpace(Conflicts conflicts) : conflicts_(conflicts) {}

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

  /// The group for invoke_parallel: a thread for each number of fields (paper 003, section 4.2), or
  /// none and all.
  static std::uint32_t group(const Operation& operation, Conflicts conflicts, unsigned threads) {
    if (conflicts == Conflicts::by_arity) {
      return static_cast<std::uint32_t>(operation.fields.size()) % threads;
    }
    return operation.action == Action::rdp ? piracema::smr::conflict_none
                                           : piracema::smr::conflict_all;
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

  /// Of `out` nothing; of `rdp` and `inp` what decode_reply reads; "?" for what is no operation.
  Buffer apply(Bytes bytes, const piracema::smr::Context&) override {
    const auto operation = decode(bytes);
    if (!operation) return Buffer(piracema::as_bytes("?"));
    if (operation->action == Action::rdp) return query(bytes);
    std::list<Tuple>& tuples = tuples_[operation->fields.size() - 1];
    if (operation->action == Action::out) {
      tuples.push_back(*tuple_of(*operation));
      return {};
    }
    const auto found = std::find_if(tuples.begin(), tuples.end(), [&operation](const Tuple& tuple) {
      return matches(tuple, operation->fields);
    });
    if (found == tuples.end()) return {};
    Buffer reply = out(*found);
    tuples.erase(found);
    return reply;
  }

  Buffer query(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation || operation->action != Action::rdp) return Buffer(piracema::as_bytes("?"));
    const std::list<Tuple>& tuples = tuples_[operation->fields.size() - 1];
    const auto found = std::find_if(tuples.begin(), tuples.end(), [&operation](const Tuple& tuple) {
      return matches(tuple, operation->fields);
    });
    return found == tuples.end() ? Buffer() : out(*found);
  }

  piracema::smr::Keys keys(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation) return {};
    const std::uint64_t key = conflicts_ == Conflicts::by_arity ? operation->fields.size() : 0;
    piracema::smr::Keys keys;
    (operation->action == Action::rdp ? keys.reads : keys.writes).push_back(key);
    return keys;
  }

  Image snapshot() override {
    return [copy = std::make_shared<decltype(tuples_)>(tuples_)] {
      Buffer image;
      for (const auto& tuples : *copy) {
        for (const Tuple& tuple : tuples) {
          const Buffer bytes = out(tuple);
          append(image, static_cast<std::uint32_t>(bytes.size()));
          image.append(bytes.data(), bytes.size());
        }
      }
      return image;
    };
  }

  bool restore(Bytes image) override {
    decltype(tuples_) restored;
    while (!image.empty()) {
      std::uint32_t length = 0;
      if (!take(image, length) || length > image.size()) return false;
      const auto operation = decode(image.first(length));
      image = image.subspan(length);
      if (!operation || operation->action != Action::out) return false;
      restored[operation->fields.size() - 1].push_back(*tuple_of(*operation));
    }
    tuples_ = std::move(restored);
    return true;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& tuples : tuples_) count += tuples.size();
    return count;
  }

 private:
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

  const Conflicts conflicts_;
  std::array<std::list<Tuple>, fields_max> tuples_;
};
