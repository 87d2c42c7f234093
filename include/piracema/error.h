#pragma once

#include <string>
#include <utility>
#include <variant>

namespace piracema {

/// What a caller can do something different about; the message says the rest.
enum class Errc {
  usage,      ///< The command line is wrong (exit code 2).
  config,     ///< The graph, a file of settings or the environment is wrong (exit code 3).
  corrupt,    ///< Bytes are not what they claim to be: use an older copy, or drop the peer.
  io,         ///< The operating system refused: the message has its reason.
  not_found,  ///< Nothing is there.
  refused,    ///< The other side speaks for another job, version or epoch.
  timeout,    ///< No answer within the bound.
  failed,     ///< A user's operator failed (exit code 1).
  lost,       ///< Data is gone that no snapshot holds (exit code 4).
};

/// An error of the world: one line that says what was wanted and what was found.
struct Error {
  Errc code;
  std::string message;
};

/// The value of an operation that has none.
struct Done {};

/// Either a value or the error that prevented it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : value_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return std::get<0>(value_); }
  const T& operator*() const& { return std::get<0>(value_); }
  T&& operator*() && { return std::get<0>(std::move(value_)); }
  T* operator->() { return &std::get<0>(value_); }
  const T* operator->() const { return &std::get<0>(value_); }

  const Error& error() const { return std::get<1>(value_); }

 private:
  std::variant<T, Error> value_;
};

}  // namespace piracema
