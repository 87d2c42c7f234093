#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>

namespace piracema::net {

/// Another way than a socket for the bytes of a connection, both ways, reliable and in order.
///
/// Writing belongs to one thread at a time, everything else to the thread that watches the bell.
class ByteChannel {
 public:
  virtual ~ByteChannel() = default;

  /// As writev(2) and readv(2) without waiting, but never 0: -1 with errno EAGAIN when there is no
  /// room or nothing has come, EPROTO when the other side has broken the rules.
  virtual ssize_t write(const iovec* parts, std::size_t count) = 0;
  virtual ssize_t read(const iovec* parts, std::size_t count) = 0;

  /// Asks for the bell when there is room again; false if there is already.
  virtual bool wait_for_room() = 0;
  /// Asks for the bell when bytes come; false if some are there already.
  virtual bool sleep() = 0;
  /// Looks for a short while whether bytes come.
  virtual bool is_worth_waiting() = 0;

  /// What can be on its way at most, as far as that is to be read after the other side's end.
  virtual std::size_t capacity() const = 0;
  /// The other side has ended: whether all that it wrote can be read by now.
  virtual bool is_over() const = 0;

  /// A descriptor that is readable when something is to be looked at, until it is quieted.
  virtual int bell() const = 0;
  virtual void quiet_bell() = 0;
  virtual void ring_again() = 0;
};

}  // namespace piracema::net
