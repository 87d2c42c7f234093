#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <piracema/detail/journal.h>
#include <piracema/operator.h>
#include <piracema/pipe.h>
#include <piracema/poll.h>

namespace piracema {

struct SocketOptions : LiveOptions {
  SocketOptions() { item_bytes_max = std::size_t{1} << 20; }
  /// Who else calls waits until one has left.
  std::uint32_t connections_max = 64;
  /// The source ends when so many have called and left; 0: never.
  std::uint64_t ends_after = 0;
};

namespace detail {

/// What the sources below have in common.
class SocketSource {
 public:
  enum class Framing : std::uint8_t { lines, lengths };
  SocketSource(std::string address, SocketOptions options, Framing framing);
  SocketSource(const SocketSource&);
  SocketSource& operator=(const SocketSource&) = delete;
  ~SocketSource();

  void start(const Context&);
  Poll<std::string> operator()();

  template <class Archive>
  void serialize(Archive& archive) {
    journal_.sync();
    archive(begun_, position_, left_);
  }

 private:
  class Inside;

  /// An item, or nothing where a connection has ended.
  std::optional<std::optional<std::string>> again();
  bool take();

  std::string address_;
  SocketOptions options_;
  Framing framing_;
  Journal journal_;
  std::unique_ptr<Inside> inside_;
  bool begun_ = false;
  /// In the journal, of the next item.
  std::uint64_t position_ = 0;
  /// Connections that have ended before it.
  std::uint64_t left_ = 0;
};

}  // namespace detail

/// Listens at a TCP port and takes the lines of all who connect, without their '\n', each
/// connection's in their order. One replica.
///
/// The address is "PORT", on the loopback interface, or "HOST:PORT", where HOST is numeric: whoever
/// reaches that may send. A connection that sends a line that is too long is closed with a warning.
/// With a journal an item that was taken is never lost; what a sender has written and nobody has
/// taken is lost with its connection, which the sender sees.
class SocketLines : public detail::SocketSource {
 public:
  explicit SocketLines(std::string address, SocketOptions options = {})
      : SocketSource(std::move(address), std::move(options), Framing::lines) {}
};

/// The same for items with their length before them: 4 bytes, the most significant one first. What
/// is cut off by the end of its connection is dropped with a warning.
class SocketMessages : public detail::SocketSource {
 public:
  explicit SocketMessages(std::string address, SocketOptions options = {})
      : SocketSource(std::move(address), std::move(options), Framing::lengths) {}
};

}  // namespace piracema
