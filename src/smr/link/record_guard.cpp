#include "smr/link/record_guard.h"

#include <sodium.h>

#include <algorithm>

#include "base/crypto.h"
#include "base/ensure.h"

namespace piracema::smr {

static_assert(sizeof(RecordKey) == crypto_aead_aes256gcm_KEYBYTES);
static_assert(sizeof(RecordKey) == sizeof(net::SealKey));
static_assert(sizeof(Tag) == crypto_aead_aes256gcm_ABYTES);
static_assert(sizeof(Tag) == net::record_tag_bytes);

RecordGuard::RecordGuard(const RecordKey& key, Protection how) : aes_(how.aes) {
  static_assert(sizeof(crypto_aead_aes256gcm_state) <= sizeof prepared_);
  if (how.sealed) {
    cipher_.emplace(aes_ ? net::Cipher::aes256_gcm : net::Cipher::chacha20_poly1305, key);
    return;
  }
  std::copy_n(key.begin(), key_.size(), key_.begin());
  if (!aes_) return;
  crypto_aead_aes256gcm_beforenm(reinterpret_cast<crypto_aead_aes256gcm_state*>(prepared_.data()),
                                 raw(key.data()));
}

Tag RecordGuard::close(Bytes header, std::span<std::byte> payload) {
  Tag made;
  if (cipher_) {
    cipher_->seal(payload, payload.data(), made.data());
  } else {
    made = tag(header, payload);
  }
  number_ += 1;
  return made;
}

bool RecordGuard::open(Bytes header, std::span<std::byte> payload, Bytes found) {
  if (found.size() != sizeof(Tag)) return false;
  const bool right = cipher_ ? cipher_->open(payload, payload.data(), found.data())
                             : same_tag(tag(header, payload), found);
  number_ += 1;
  return right;
}

// No number twice under one key: who sees two tags of one could make more. Where there is no AES
// the header has the number.
Tag RecordGuard::tag(Bytes header, Bytes payload) const {
  ENSURE(header.data() + header.size() == payload.data());
  const Bytes record(header.data(), header.size() + payload.size());
  if (!aes_) return mac(key_, record);
  unsigned char nonce[crypto_aead_aes256gcm_NPUBBYTES] = {};
  for (std::size_t i = 0; i < 8; ++i) nonce[i] = static_cast<unsigned char>(number_ >> (8 * i));
  Tag made;
  unsigned char nothing = 0;
  crypto_aead_aes256gcm_encrypt_detached_afternm(
      &nothing, raw(made.data()), nullptr, &nothing, 0, raw(record.data()), record.size(), nullptr,
      nonce, reinterpret_cast<const crypto_aead_aes256gcm_state*>(prepared_.data()));
  return made;
}

}  // namespace piracema::smr
