#pragma once

#include <piracema/bytes.h>
#include <piracema/detail/keyed_states.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

namespace piracema::engine {

/// States could not be read or written where they lie; says where, and why. No item's fault.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What one operator's keys and states are, for who keeps them as bytes.
class StateTypes {
 public:
  virtual ~StateTypes() = default;

  /// How units have their entries.
  enum class Form {
    /// Each says whether its key has a state; KeyedStates::replay.
    marked,
    /// How many there are, and then keys with their states; KeyedStates::load.
    counted,
  };
  struct Entry {
    std::uint64_t mixed = 0;
    Bytes key, state;
    bool has_state = true;
  };
  /// As KeyedStates::reads says it: of what `read` gets.
  virtual void reads(std::uint32_t ago) = 0;
  /// Calls `use` with each entry, whose state is of the type that it has now. Throws DecodeError
  /// for bytes that are none of these types.
  virtual void read(Bytes unit, Form form, const std::function<void(const Entry&)>& use) const = 0;

  /// What was changed and lies in memory goes to where the others are.
  virtual void write_back() = 0;
};

/// States by key outside of memory, as bytes. All of it may throw StateError.
class StoredStates : public KeyedStates {
 public:
  /// Puts the state of a key with this mixed hash into `state`; false if it has none.
  virtual bool get(std::uint64_t mixed, Bytes key, Buffer& state) = 0;
  virtual void put(std::uint64_t mixed, Bytes key, Bytes state) = 0;
  virtual void erase(std::uint64_t mixed, Bytes key) = 0;

  /// Calls `use(mixed, key, state)` for the keys as they are now whose mixed hash is `from` or
  /// more, of equal ones those that are `key` or come behind it, in this order, until it returns
  /// false. `use` may change states.
  using Use = std::function<bool(std::uint64_t, Bytes, Bytes)>;
  virtual void for_each(std::uint64_t from, Bytes key, const Use& use) = 0;
};

/// Where operators of a process keep states that are not to be in memory. Any thread.
class StatePlace {
 public:
  virtual ~StatePlace() = default;
  /// Empty ones, for one operator. `types` outlives them.
  virtual std::unique_ptr<StoredStates> make(StateTypes& types) = 0;
};

}  // namespace piracema::engine
