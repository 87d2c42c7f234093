#pragma once

namespace piracema {

namespace detail {
template <class V>
class StateAccess {
 public:
  virtual ~StateAccess() = default;
  virtual const V* find() const = 0;
  virtual V& edit() = 0;
  virtual void erase() = 0;
};
}  // namespace detail

/// The state of an item's key, for code that does more than change it: that only looks, or lets a
/// key go. Code whose every item changes the state takes `V&` instead.
///
///     void operator()(const Login& login, KeyedState<Session>& session, Emit<Alarm>& emit);
///
/// A type of states that was another one in the version of the program before names that, as a
/// member type `Before`, and has a constructor that takes one: so a job goes on from snapshots of
/// that version.
///
/// To look costs less than to edit: what has not changed is not saved again. Pointers and
/// references hold until the call returns.
template <class V>
class KeyedState {
 public:
  explicit KeyedState(detail::StateAccess<V>& access) : access_(access) {}

  /// Null if the key has no state.
  const V* find() const { return access_.find(); }
  /// Of a key that has none it is `V{}`.
  V& edit() { return access_.edit(); }
  /// From now on the key has none.
  void erase() { access_.erase(); }

 private:
  detail::StateAccess<V>& access_;
};

}  // namespace piracema
