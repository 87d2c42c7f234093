#pragma once

#include <piracema/bytes.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/socket/records.h"
#include "smr/link/crypto.h"

namespace piracema::smr {

/// What both ends of a link do to its records. Agreed on in the handshake; the bits travel.
struct Protection {
  /// Both machines have instructions for AES.
  bool aes = false;
  /// Nobody else can read them: the link leaves the host of one of the two.
  bool sealed = false;
  bool operator==(const Protection&) const = default;
};

/// Guards the records of one direction of a link, in their order: each has a tag, without which
/// nobody can change, repeat or leave out one; what is sealed is encrypted besides.
///
/// A tag alone is AES-256-GMAC where both have AES, which is faster than SipHash but for records of
/// some 100 bytes, else SipHash-2-4 of 128 bits. A seal is net::RecordCipher's. Pure.
class RecordGuard {
 public:
  RecordGuard(const RecordKey& key, Protection how);

  /// Of the next record: its payload is sealed where it lies if it is to be. `header` is guarded
  /// too; it has the record's number, and where that is sealed the length.
  Tag close(Bytes header, std::span<std::byte> payload);
  /// The same back. False if this is not the next record as it was closed: there is no going on
  /// after that.
  bool open(Bytes header, std::span<std::byte> payload, Bytes tag);

  /// Of the next record.
  std::uint64_t number() const { return number_; }

 private:
  Tag tag(Bytes header, Bytes payload) const;

  std::optional<net::RecordCipher> cipher_;
  MacKey key_{};
  bool aes_ = false;
  /// What AES makes of the key, once.
  alignas(16) std::array<std::byte, 512> prepared_{};
  std::uint64_t number_ = 0;
};

}  // namespace piracema::smr
