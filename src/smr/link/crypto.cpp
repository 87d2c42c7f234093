#include "smr/link/crypto.h"

#include <sodium.h>

#include <algorithm>

#include "base/crypto.h"

namespace piracema::smr {

Tag mac(const MacKey& key, Bytes what) {
  static_assert(sizeof(Tag) == crypto_shorthash_siphashx24_BYTES);
  static_assert(sizeof(MacKey) == crypto_shorthash_siphashx24_KEYBYTES);
  Tag tag;
  crypto_shorthash_siphashx24(raw(tag.data()), raw(what.data()), what.size(), raw(key.data()));
  return tag;
}

bool has_aes() {
  prepare_crypto();
  return crypto_aead_aes256gcm_is_available() != 0;
}

bool same_tag(const Tag& a, Bytes b) {
  return b.size() == a.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void draw_secret(std::byte* room, std::size_t count) {
  prepare_crypto();
  randombytes_buf(room, count);
}

namespace {
template <class Key>
Key derive(Bytes secret, std::string_view label, Bytes context) {
  Key key;
  crypto_generichash_state state;
  // The lengths of label and context are told first, so that no two pairs run together.
  const std::uint64_t sizes[] = {label.size(), context.size()};
  crypto_generichash_init(&state, raw(secret.data()), secret.size(), key.size());
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(sizes), sizeof sizes);
  crypto_generichash_update(&state, raw(as_bytes(label).data()), label.size());
  crypto_generichash_update(&state, raw(context.data()), context.size());
  crypto_generichash_final(&state, raw(key.data()), key.size());
  return key;
}
}  // namespace

MacKey derive_key(Bytes secret, std::string_view label, Bytes context) {
  return derive<MacKey>(secret, label, context);
}

RecordKey derive_record_key(Bytes secret, std::string_view label, Bytes context) {
  return derive<RecordKey>(secret, label, context);
}

std::string hex_of(Bytes bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), raw(bytes.data()), bytes.size());
  text.pop_back();
  return text;
}

bool from_hex(std::string_view text, std::byte* room, std::size_t count) {
  if (text.size() != 2 * count) return false;
  Buffer bytes;
  bytes.resize(count);
  std::size_t written = 0;
  if (sodium_hex2bin(raw(bytes.data()), count, text.data(), text.size(), nullptr, &written,
                     nullptr) != 0 ||
      written != count) {
    return false;
  }
  std::copy_n(bytes.data(), count, room);
  return true;
}

}  // namespace piracema::smr
