#include "net/socket/records.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/crypto.h"
#include "base/ensure.h"
#include "base/text.h"

namespace piracema::net {

namespace {

static_assert(record_tag_bytes == crypto_aead_aes256gcm_ABYTES);
static_assert(record_tag_bytes == crypto_aead_chacha20poly1305_ietf_ABYTES);
static_assert(sizeof(SealKey) == crypto_aead_aes256gcm_KEYBYTES);
static_assert(sizeof(SealKey) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);
static_assert(sizeof(SealKey) == crypto_auth_hmacsha256_BYTES);

using RecordHeader = std::array<std::byte, record_header_bytes>;
using RecordNonce = std::array<std::byte, 12>;
static_assert(sizeof(RecordNonce) == crypto_aead_aes256gcm_NPUBBYTES);
static_assert(sizeof(RecordNonce) == crypto_aead_chacha20poly1305_ietf_NPUBBYTES);

// Copied into a record with others if it is smaller; the copy costs less than a record of its own.
constexpr std::size_t large_part_bytes = std::size_t{8} << 10;
constexpr std::size_t record_bytes_max =
    record_header_bytes + record_payload_max + record_tag_bytes;
constexpr std::string_view label_renew = "piracema renews";

template <class Array, class Number>
Array little_endian(Number number) {
  Array bytes{};
  for (std::size_t i = 0; i < sizeof number; ++i) bytes[i] = std::byte(number >> (8 * i) & 0xff);
  return bytes;
}

RecordHeader header_of(std::size_t bytes) {
  return little_endian<RecordHeader>(static_cast<std::uint32_t>(bytes));
}

std::size_t length_in(const std::byte* header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < record_header_bytes; ++i) {
    length |= std::to_integer<std::size_t>(header[i]) << (8 * i);
  }
  return length;
}

Bytes bytes_of(const iovec& part) {
  return {static_cast<const std::byte*>(part.iov_base), part.iov_len};
}

}  // namespace

std::uint8_t ciphers_here() {
  prepare_crypto();
  const auto bit = [](Cipher cipher) { return 1U << static_cast<unsigned>(cipher); };
  const unsigned aes = crypto_aead_aes256gcm_is_available() == 1 ? bit(Cipher::aes256_gcm) : 0;
  return static_cast<std::uint8_t>(bit(Cipher::chacha20_poly1305) | aes);
}

Cipher best_of(std::uint8_t ciphers) {
  for (const Cipher cipher : {Cipher::aes256_gcm, Cipher::chacha20_poly1305}) {
    if ((ciphers >> static_cast<unsigned>(cipher) & 1U) != 0) return cipher;
  }
  return Cipher::none;
}

// ---- one record ---------------------------------------------------------------------------------

struct RecordCipher::AesKey {
  crypto_aead_aes256gcm_state state;
};

RecordCipher::RecordCipher(Cipher cipher, const SealKey& key) {
  ENSURE((ciphers_here() >> static_cast<unsigned>(cipher) & 1U) != 0);
  if (cipher == Cipher::aes256_gcm) aes_ = std::make_unique<AesKey>();
  use(key);
}

RecordCipher::~RecordCipher() {
  sodium_memzero(key_.data(), key_.size());
  if (aes_) sodium_memzero(aes_.get(), sizeof *aes_);
}

void RecordCipher::use(const SealKey& key) {
  key_ = key;
  if (aes_) crypto_aead_aes256gcm_beforenm(&aes_->state, raw(key_.data()));
}

void RecordCipher::seal(Bytes from, std::byte* to, std::byte* tag) {
  const auto nonce = little_endian<RecordNonce>(number_);
  const RecordHeader header = header_of(from.size());
  if (aes_) {
    crypto_aead_aes256gcm_encrypt_detached_afternm(raw(to), raw(tag), nullptr, raw(from.data()),
                                                   from.size(), raw(header.data()), header.size(),
                                                   nullptr, raw(nonce.data()), &aes_->state);
  } else {
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        raw(to), raw(tag), nullptr, raw(from.data()), from.size(), raw(header.data()),
        header.size(), nullptr, raw(nonce.data()), raw(key_.data()));
  }
  next();
}

bool RecordCipher::open(Bytes from, std::byte* to, const std::byte* tag) {
  const auto nonce = little_endian<RecordNonce>(number_);
  const RecordHeader header = header_of(from.size());
  const int wrong =
      aes_ ? crypto_aead_aes256gcm_decrypt_detached_afternm(
                 raw(to), nullptr, raw(from.data()), from.size(), raw(tag), raw(header.data()),
                 header.size(), raw(nonce.data()), &aes_->state)
           : crypto_aead_chacha20poly1305_ietf_decrypt_detached(
                 raw(to), nullptr, raw(from.data()), from.size(), raw(tag), raw(header.data()),
                 header.size(), raw(nonce.data()), raw(key_.data()));
  if (wrong == 0) next();
  return wrong == 0;
}

// Who learns a key does not learn the one before it.
void RecordCipher::next() {
  number_ += 1;
  if (number_ % records_per_key != 0) return;
  SealKey renewed;
  crypto_auth_hmacsha256(raw(renewed.data()), raw(as_bytes(label_renew).data()), label_renew.size(),
                         raw(key_.data()));
  use(renewed);
  sodium_memzero(renewed.data(), renewed.size());
}

// ---- out ----------------------------------------------------------------------------------------

void RecordWriter::seal(std::span<const iovec> parts, Buffer& out) {
  std::size_t first = 0, bytes = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t size = parts[i].iov_len;
    if (size < large_part_bytes && bytes + size <= record_payload_max) {
      bytes += size;
      continue;
    }
    seal_together(parts.subspan(first, i - first), bytes, out);
    first = size < large_part_bytes ? i : i + 1;
    bytes = size < large_part_bytes ? size : 0;
    if (size >= large_part_bytes) seal_alone(bytes_of(parts[i]), out);
  }
  seal_together(parts.subspan(first), bytes, out);
}

void RecordWriter::seal_together(std::span<const iovec> parts, std::size_t bytes, Buffer& out) {
  if (bytes == 0) return;
  const RecordHeader header = header_of(bytes);
  out.append(header.data(), header.size());
  std::byte* const place = out.extend(bytes + record_tag_bytes);
  std::byte* next = place;
  for (const iovec& part : parts) {
    if (part.iov_len != 0) std::memcpy(next, part.iov_base, part.iov_len);
    next += part.iov_len;
  }
  cipher_.seal({place, bytes}, place, place + bytes);
}

void RecordWriter::seal_alone(Bytes part, Buffer& out) {
  while (!part.empty()) {
    const Bytes payload = part.first(std::min(part.size(), record_payload_max));
    const RecordHeader header = header_of(payload.size());
    out.append(header.data(), header.size());
    std::byte* const place = out.extend(payload.size() + record_tag_bytes);
    cipher_.seal(payload, place, place + payload.size());
    part = part.subspan(payload.size());
  }
}

// ---- in -----------------------------------------------------------------------------------------

iovec RecordReader::room() {
  buffer_.resize(2 * record_bytes_max);
  // At most a piece of a record is left: `open` has taken everything else.
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  ENSURE(end_ < record_bytes_max && opened_.empty());
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void RecordReader::filled(std::size_t count) {
  end_ += count;
  ENSURE(end_ <= buffer_.size());
}

Result<std::size_t> RecordReader::open(std::span<const iovec> places) {
  if (opened_.empty()) {
    const std::size_t there = end_ - begin_;
    if (there < record_header_bytes) return std::size_t{0};
    const std::size_t length = length_in(buffer_.data() + begin_);
    if (length == 0 || length > record_payload_max) {
      return Error{Errc::corrupt, concat("record ", cipher_.number(), ": want 1 to ",
                                         record_payload_max, " bytes in it, found ", length)};
    }
    if (there < record_header_bytes + length + record_tag_bytes) return std::size_t{0};
    std::byte* const sealed = buffer_.data() + begin_ + record_header_bytes;
    // As most of a large frame comes: it is opened into its place.
    const bool fits = !places.empty() && places.front().iov_len >= length;
    std::byte* const to = fits ? static_cast<std::byte*>(places.front().iov_base) : sealed;
    if (!cipher_.open({sealed, length}, to, sealed + length)) {
      return Error{Errc::corrupt, concat("record ", cipher_.number(),
                                         ": it is not what was sealed, or not the next one")};
    }
    begin_ += record_header_bytes + length + record_tag_bytes;
    if (fits) return length;
    opened_ = {sealed, length};
  }
  std::size_t count = 0;
  for (const iovec& place : places) {
    const std::size_t some = std::min(place.iov_len, opened_.size());
    if (some != 0) std::memcpy(place.iov_base, opened_.data(), some);
    opened_ = opened_.subspan(some);
    count += some;
  }
  return count;
}

}  // namespace piracema::net
