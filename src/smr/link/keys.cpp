#include "smr/link/keys.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/crypto.h"
#include "base/ensure.h"
#include "base/fd.h"
#include "base/hint.h"
#include "base/text.h"

namespace piracema::smr {

namespace {

constexpr std::string_view key_file_head = "piracema-key-1 ";
constexpr std::size_t key_file_bytes = key_file_head.size() + 64 + 1;

Error wrong_file(const std::string& path, std::string_view what) {
  return {Errc::config, concat("key file ", path, ": ", what)};
}

// Before a byte is read: what everybody could have read is nobody's secret.
Result<Done> check_permissions(const std::string& path, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error{Errc::io, with_errno("key file " + path)};
  if (!S_ISREG(status.st_mode)) return wrong_file(path, "want a regular file");
  if ((status.st_mode & 077) != 0) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
    return wrong_file(path, concat("want permissions 0600, found ", std::string_view(mode),
                                   ": others could read it"));
  }
  if (status.st_uid != ::geteuid() && ::geteuid() != 0) {
    return wrong_file(path, "belongs to another user");
  }
  return Done{};
}

}  // namespace

Result<PublicKey> parse_public_key(std::string_view text) {
  prepare_crypto();
  PublicKey key;
  if (!from_hex(text, key.data(), key.size())) {
    return Error{Errc::config, concat("want a public key of 64 hexadecimal digits, found '",
                                      text.substr(0, 80), "'")};
  }
  unsigned char converted[crypto_scalarmult_curve25519_BYTES];
  if (crypto_sign_ed25519_pk_to_curve25519(converted, raw(key.data())) != 0) {
    return Error{Errc::config, concat("'", text, "' is not a public key")};
  }
  return key;
}

bool verify_signature(const PublicKey& signer, Bytes what, Bytes signature) {
  return signature.size() == signature_bytes &&
         crypto_sign_ed25519_verify_detached(raw(signature.data()), raw(what.data()), what.size(),
                                             raw(signer.data())) == 0;
}

KeyPair KeyPair::generate() {
  Seed seed;
  draw_secret(seed.data(), seed.size());
  KeyPair pair(seed);
  sodium_memzero(seed.data(), seed.size());
  return pair;
}

KeyPair::KeyPair(const Seed& seed) : seed_(seed) {
  static_assert(sizeof(Seed) == crypto_sign_ed25519_SEEDBYTES);
  prepare_crypto();
  crypto_sign_ed25519_seed_keypair(raw(public_.data()), raw(secret_.data()), raw(seed_.data()));
}

KeyPair::~KeyPair() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(secret_.data(), secret_.size());
}

Buffer KeyPair::sign(Bytes what) const {
  static_assert(signature_bytes == crypto_sign_ed25519_BYTES);
  Buffer signature;
  signature.resize(signature_bytes);
  crypto_sign_ed25519_detached(raw(signature.data()), nullptr, raw(what.data()), what.size(),
                               raw(secret_.data()));
  return signature;
}

MacKey KeyPair::shared_with(const PublicKey& other, std::string_view label) const {
  unsigned char mine[crypto_scalarmult_curve25519_SCALARBYTES];
  unsigned char theirs[crypto_scalarmult_curve25519_BYTES];
  std::array<std::byte, crypto_scalarmult_curve25519_BYTES> secret;
  crypto_sign_ed25519_sk_to_curve25519(mine, raw(secret_.data()));
  // `parse_public_key` has refused the keys for which these fail.
  ENSURE(crypto_sign_ed25519_pk_to_curve25519(theirs, raw(other.data())) == 0);
  ENSURE(crypto_scalarmult_curve25519(raw(secret.data()), mine, theirs) == 0);
  // In an order that both sides know.
  const bool first = public_ < other;
  Buffer both{Bytes(first ? public_ : other)};
  both.append((first ? other : public_).data(), other.size());
  const MacKey key = derive_key(secret, label, both);
  sodium_memzero(mine, sizeof mine);
  sodium_memzero(secret.data(), secret.size());
  return key;
}

Result<Done> write_key(const std::string& path, const KeyPair& key) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) {
    return Error{errno == EEXIST ? Errc::config : Errc::io, with_errno("key file " + path)};
  }
  const std::string text = concat(key_file_head, hex_of(key.seed()), "\n");
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file.get()) != 0) {
    const Error error{Errc::io, with_errno("key file " + path)};
    ::unlink(path.c_str());
    return error;
  }
  return Done{};
}

Result<KeyPair> read_key(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const bool missing = errno == ENOENT;
    return Error{missing ? Errc::not_found : Errc::io,
                 with_hint(with_errno("key file " + path),
                           missing ? "piracema kv keygen FILE makes one; its public half belongs "
                                     "into the configuration"
                                   : "")};
  }
  if (auto right = check_permissions(path, file.get()); !right) return right.error();
  char text[key_file_bytes + 1];
  const ssize_t count = ::read(file.get(), text, sizeof text);
  if (count < 0) return Error{Errc::io, with_errno("key file " + path)};
  const std::string_view found(text, static_cast<std::size_t>(count));
  KeyPair::Seed seed;
  if (found.size() != key_file_bytes || !found.starts_with(key_file_head) ||
      !from_hex(found.substr(key_file_head.size(), 64), seed.data(), seed.size())) {
    return wrong_file(path, "want a file made by 'piracema kv keygen', found something else");
  }
  KeyPair pair(seed);
  sodium_memzero(seed.data(), seed.size());
  sodium_memzero(text, sizeof text);
  return pair;
}

}  // namespace piracema::smr
