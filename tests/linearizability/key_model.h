#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"

namespace piracema::linearizability {

/// One key of a map as clients of a real group use it: who puts hears only that it was done. Every
/// value is written by one operation alone, so whoever has seen a value knows who wrote it.
struct KeyModel {
  /// The value that is there; 0: none.
  using State = std::uint64_t;
  enum class Kind { get, put, create, swap, remove, remove_if };
  struct Input {
    Kind kind = Kind::get;
    /// Of put, create and swap.
    std::uint64_t value = 0;
    /// Of swap and remove_if: done only where this value is; a swap for 0 is a create.
    std::uint64_t wanted = 0;
    bool operator==(const Input&) const = default;
  };
  struct Output {
    /// Whether it changed anything; of get always.
    bool done = true;
    /// Of get.
    State seen = 0;
  };

  static State start() { return 0; }
  static std::uint64_t hash(State state) { return state * 0x9E3779B97F4A7C15u; }
  static std::optional<State> step(State state, const Input& input, const Output* output) {
    const bool done = is_done(state, input);
    if (output != nullptr && output->done != done) return std::nullopt;
    if (input.kind == Kind::get) {
      if (output != nullptr && output->seen != state) return std::nullopt;
      return state;
    }
    if (!done) return state;
    const bool removes = input.kind == Kind::remove || input.kind == Kind::remove_if;
    return removes ? State{0} : State{input.value};
  }
  /// The one state in which it does anything, if there is only one.
  static std::optional<State> wants(const Input& input) {
    const bool is_bound =
        (input.kind == Kind::swap || input.kind == Kind::remove_if) && input.wanted != 0;
    return is_bound ? std::optional<State>(input.wanted) : std::nullopt;
  }
  static State writes(const Input& input) { return input.value; }
  /// Whether histories without it are no less possible.
  static bool changes_nothing(const Input& input, const Output& output) {
    return input.kind == Kind::get || !output.done;
  }

  static std::string text(State state) { return state == 0 ? "nothing" : std::to_string(state); }
  static std::string text(const Input& input) {
    switch (input.kind) {
      case Kind::get:
        return "get";
      case Kind::put:
        return concat("put ", input.value);
      case Kind::create:
        return concat("create ", input.value);
      case Kind::swap:
        return concat("swap ", input.wanted, " for ", input.value);
      case Kind::remove:
        return "remove";
      case Kind::remove_if:
        return concat("remove ", input.wanted);
    }
    return "";
  }
  static std::string text(const Input& input, const Output& output) {
    if (input.kind == Kind::get) return "-> " + text(output.seen);
    return output.done ? "-> done" : "-> refused";
  }

 private:
  static bool is_done(State state, const Input& input) {
    switch (input.kind) {
      case Kind::create:
        return state == 0;
      case Kind::remove:
        return state != 0;
      case Kind::remove_if:
        return state != 0 && state == input.wanted;
      case Kind::swap:
        return state == input.wanted;
      case Kind::get:
      case Kind::put:
        break;
    }
    return true;
  }
};

}  // namespace piracema::linearizability
