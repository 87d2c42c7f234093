#pragma once

#include <piracema/error.h>

#include <array>
#include <memory>
#include <vector>

#include "base/fd.h"
#include "net/rings/byte_channel.h"
#include "net/rings/byte_ring.h"

namespace piracema::net {

/// Memory that two processes of one host share, a ring of bytes for each direction, and a bell
/// for each of them; docs/formats/ring.md. It has no name: when both have ended, or were killed,
/// nothing of it is left.
///
/// One process creates it and hands the descriptors over a local socket; the other opens what it
/// was handed, which may be anything.
class Rings : public ByteChannel {
 public:
  /// Bytes on their way in one direction at most.
  static constexpr std::size_t bytes_max = std::size_t{512} << 10;

  /// Errc::io when memory or descriptors have run out.
  static Result<std::unique_ptr<Rings>> create();
  /// Errc::refused, saying why, for descriptors that are not those of another's rings.
  static Result<std::unique_ptr<Rings>> open(std::vector<Fd> descriptors);
  ~Rings() override;
  Rings(const Rings&) = delete;
  Rings& operator=(const Rings&) = delete;

  /// What the other process opens. They stay this object's.
  std::array<int, 3> descriptors() const;

  ssize_t write(const iovec* parts, std::size_t count) override {
    return out_->write(parts, count);
  }
  ssize_t read(const iovec* parts, std::size_t count) override { return in_->read(parts, count); }
  bool wait_for_room() override { return out_->wait_for_room(); }
  bool sleep() override { return in_->sleep(); }
  bool is_worth_waiting() override { return in_->is_worth_waiting(); }
  std::size_t capacity() const override { return bytes_max; }
  /// What was written is there, whatever has become of the writer.
  bool is_over() const override { return true; }
  int bell() const override { return mine_.get(); }
  void quiet_bell() override { Bell(mine_.get()).quiet(); }
  void ring_again() override { Bell(mine_.get()).ring(); }

 private:
  Rings(Fd memory, Fd mine, Fd theirs, std::byte* mapped, bool creator);

  Fd memory_, mine_, theirs_;
  std::byte* mapped_;
  std::unique_ptr<RingWriter> out_;
  std::unique_ptr<RingReader> in_;
};

}  // namespace piracema::net
