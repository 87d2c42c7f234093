#pragma once

#include <optional>
#include <string>

#include "base/text.h"

/// The services that histories are held to: one thread, one memory.
namespace piracema::linearizability {

/// A map from keys to numbers with compare-and-swap; of a single key, a register.
struct MapModel {
  using State = std::optional<std::uint64_t>;  ///< Of one key: what is there, if anything.
  enum class Kind { get, put, remove, cas, append };
  struct Input {
    Kind kind = Kind::get;
    std::uint64_t key = 0;
    /// Of put, and of cas if the key has `expected`. What `append` mixes in.
    std::uint64_t value = 0;
    State expected;
  };
  struct Output {
    /// What was there before.
    State value;
    /// Of cas: whether it was as expected.
    bool done = false;
    bool operator==(const Output&) const = default;
  };

  static State start() { return std::nullopt; }
  static std::uint64_t hash(const State& state) { return state ? *state + 1 : 0; }
  static std::uint64_t key(const Input& input) { return input.key; }
  static std::optional<State> step(const State& state, const Input& input, const Output* output) {
    const bool done = input.kind != Kind::cas || state == input.expected;
    if (output != nullptr && *output != Output{state, done}) return std::nullopt;
    switch (input.kind) {
      case Kind::get:
        return state;
      case Kind::put:
        return State{input.value};
      case Kind::remove:
        return State{};
      case Kind::cas:
        return done ? State{input.value} : state;
      case Kind::append:
        return State{appended(state, input.value)};
    }
    return std::nullopt;
  }
  /// What a key holds that `value` was appended to: all that ever was, in its order, in 64 bits.
  static std::uint64_t appended(const State& state, std::uint64_t value) {
    std::uint64_t mixed = (state.value_or(0) + value) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 31);
  }
  static std::string text(const Input& input, const Output& output) {
    static const char* const names[] = {"get", "put", "remove", "cas", "append"};
    return concat(names[static_cast<int>(input.kind)], " ", of(State{input.value}), " if ",
                  of(input.expected), " -> ", of(output.value), output.done ? "" : " refused");
  }
  static std::string of(const State& state) { return state ? std::to_string(*state) : "nothing"; }
};

/// A lock that is lent for a time (fencing: each `acquire` that is granted has a token of its own,
/// greater than all before; its holder may renew it or give it back). The service says at which of
/// its times it answered, and whose token is the newest.
struct LeaseModel {
  struct State {
    /// 0: nobody.
    std::uint64_t holder = 0;
    std::uint64_t token = 0;
    /// Service time until which it is lent; nullopt: unknown, granted by an open operation.
    std::optional<std::uint64_t> until = 0;
    /// Service time of the last answer.
    std::uint64_t time = 0;
    bool operator==(const State&) const = default;
  };
  enum class Kind { acquire, renew, release };
  struct Input {
    Kind kind = Kind::acquire;
    std::uint64_t lease = 0;
    std::uint64_t client = 0;
    /// How long it wants it.
    std::uint64_t ttl = 0;
  };
  struct Output {
    bool granted = false;
    /// Of this grant; of the last one if refused.
    std::uint64_t token = 0;
    std::uint64_t time = 0;
    bool operator==(const Output&) const = default;
  };

  static State start() { return {}; }
  static std::uint64_t hash(const State& state) {
    return ((state.holder * 31 + state.token) * 31 + state.until.value_or(1)) * 31 + state.time;
  }
  static std::uint64_t key(const Input& input) { return input.lease; }

  static std::optional<State> step(const State& state, const Input& input, const Output* output) {
    if (output == nullptr) return granted_at_unknown_time(state, input);
    if (output->time < state.time) return std::nullopt;  // Its clock never goes back.
    const bool mine = state.holder == input.client;
    // Nobody knows until when an open operation took it: then both answers are right.
    const bool may_be_held = state.holder != 0 && (!state.until || *state.until > output->time);
    const bool may_be_free = state.holder == 0 || !state.until || *state.until <= output->time;
    const bool acquire = input.kind == Kind::acquire;

    State after = state;
    after.time = output->time;
    if (!output->granted) {
      const bool right = acquire ? may_be_held && !mine : may_be_free || !mine;
      if (!right || output->token != state.token) return std::nullopt;
      return after;
    }
    const bool right = acquire ? may_be_free || mine : may_be_held && mine;
    if (!right || output->token != state.token + (acquire ? 1 : 0)) return std::nullopt;
    after.token = output->token;
    after.holder = input.kind == Kind::release ? 0 : input.client;
    after.until = output->time + input.ttl;
    return after;
  }

  static std::string text(const Input& input, const Output& output) {
    static const char* const names[] = {"acquire", "renew", "release"};
    return concat(names[static_cast<int>(input.kind)], " by ", input.client, " for ", input.ttl,
                  output.granted ? " -> granted" : " -> refused", ", token ", output.token, " at ",
                  output.time);
  }

 private:
  // Refused is as if it never happened, so only the grant is a step of its own.
  static State granted_at_unknown_time(const State& state, const Input& input) {
    const bool acquire = input.kind == Kind::acquire;
    if (!acquire && state.holder != input.client) return state;
    State after = state;
    after.token += acquire ? 1 : 0;
    after.holder = input.kind == Kind::release ? 0 : input.client;
    after.until.reset();
    return after;
  }
};

}  // namespace piracema::linearizability
