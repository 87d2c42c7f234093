#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "smr/link/crypto.h"

namespace piracema::smr {

/// Ed25519. In files and messages to people: 64 hexadecimal digits.
using PublicKey = std::array<std::byte, 32>;
constexpr std::size_t signature_bytes = 64;

/// Errc::config says what was found instead of 64 hexadecimal digits, or that it is no key.
Result<PublicKey> parse_public_key(std::string_view text);

bool verify_signature(const PublicKey& signer, Bytes what, Bytes signature);

/// Who can sign as somebody. A value; wiped when it goes. Any thread.
class KeyPair {
 public:
  using Seed = std::array<std::byte, 32>;

  static KeyPair generate();
  explicit KeyPair(const Seed& seed);
  KeyPair(const KeyPair&) = default;
  KeyPair& operator=(const KeyPair&) = default;
  ~KeyPair();

  const PublicKey& public_key() const { return public_; }
  const Seed& seed() const { return seed_; }
  Buffer sign(Bytes what) const;

  /// The key for MACs that nobody but the two owners can make, the same on both sides: X25519 of
  /// the two Ed25519 keys. Another for each label.
  MacKey shared_with(const PublicKey& other, std::string_view label) const;

 private:
  Seed seed_;
  PublicKey public_;
  std::array<std::byte, 64> secret_;
};

/// A file that its owner alone can read, made anew: one that exists is Errc::config, for it may be
/// somebody's identity.
Result<Done> write_key(const std::string& path, const KeyPair& key);

/// Errc::config for a file that others may read (as ssh does), that belongs to somebody else, or
/// that is no key; Errc::not_found, Errc::io.
Result<KeyPair> read_key(const std::string& path);

}  // namespace piracema::smr
