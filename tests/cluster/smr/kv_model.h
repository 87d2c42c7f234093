#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"

namespace piracema::testing {

/// What the replicated map promises for one key, for the checker of linearizability.
struct KvModel {
  using State = std::optional<std::uint64_t>;
  enum class Kind { get, put, create, remove };
  struct Input {
    Kind kind = Kind::get;
    std::uint64_t key = 0, value = 0;
  };
  struct Output {
    /// Of get.
    State value;
    /// Whether it was done: create if there was none, remove if there was one.
    bool done = true;
  };

  static State start() { return std::nullopt; }
  static std::uint64_t hash(const State& state) { return state ? *state + 1 : 0; }
  static std::uint64_t key(const Input& input) { return input.key; }
  static std::optional<State> step(const State& state, const Input& input, const Output* output) {
    const bool done = input.kind == Kind::create   ? !state
                      : input.kind == Kind::remove ? state.has_value()
                                                   : true;
    if (output != nullptr && output->done != done) return std::nullopt;
    if (input.kind == Kind::get) {
      if (output != nullptr && output->value != state) return std::nullopt;
      return state;
    }
    if (!done) return state;
    return input.kind == Kind::remove ? State{} : State{input.value};
  }
  static std::string text(const Input& input, const Output& output) {
    static const char* const names[] = {"get", "put", "create", "remove"};
    return concat(names[static_cast<int>(input.kind)], " ", input.value, " -> ",
                  output.value ? std::to_string(*output.value) : "nothing",
                  output.done ? "" : " refused");
  }
};

}  // namespace piracema::testing
