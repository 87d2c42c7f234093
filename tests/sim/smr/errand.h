#pragma once

#include <piracema/bytes.h>

#include <cstddef>
#include <cstdint>

namespace piracema::smr_sim {

/// What a client wants of the service, one operation after the other, and what it makes of the
/// answers: it tells an oracle of both.
class Errand {
 public:
  struct Wish {
    Buffer operation;
    /// It changes nothing, so it may be asked outside of the order.
    bool is_read = false;
    /// Names it in `answered` and `abandoned`; one of them is called, or neither.
    std::size_t ticket = 0;
  };

  virtual ~Errand() = default;
  /// `number` counts from 1.
  virtual Wish next(std::uint32_t number) = 0;
  virtual void answered(std::size_t ticket, Bytes reply) = 0;
  /// Nobody will ever know what became of it.
  virtual void abandoned(std::size_t ticket) = 0;
};

}  // namespace piracema::smr_sim
