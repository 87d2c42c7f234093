#include "net/session/handshake.h"

#include <sodium.h>

#include <algorithm>

#include "base/crypto.h"
#include "base/ensure.h"
#include "base/hex.h"
#include "base/text.h"
#include "wire/fields.h"

namespace piracema::net {

namespace {

/// Tells jobs apart, and says nothing of their keys.
using JobNumber = std::array<std::byte, 8>;

struct CallFields {
  std::uint32_t version = 0;
  std::uint8_t purpose = 0;
  JobNumber job{};
  Nonce nonce{};
  std::uint8_t sealing = 0, ciphers = 0;
  PublicKey key{};
  Buffer about;
  auto fields() { return std::tie(version, purpose, job, nonce, sealing, ciphers, key, about); }
};
struct AnswerFields {
  Nonce nonce{};
  std::uint8_t sealing = 0, cipher = 0;
  PublicKey key{};
  Buffer about;
  Proof proof{};
  auto fields() { return std::tie(nonce, sealing, cipher, key, about, proof); }
};
struct ProofFields {
  Proof proof{};
  auto fields() { return std::tie(proof); }
};

Proof hmac(Bytes key, std::string_view label, Bytes what) {
  static_assert(sizeof(Proof) == crypto_auth_hmacsha256_BYTES);
  prepare_crypto();
  crypto_auth_hmacsha256_state state;
  const Bytes name = as_bytes(label);
  crypto_auth_hmacsha256_init(&state, raw(key.data()), key.size());
  // The labels have one length, so that no two pairs of label and text run together.
  crypto_auth_hmacsha256_update(&state, raw(name.data()), name.size());
  crypto_auth_hmacsha256_update(&state, raw(what.data()), what.size());
  Proof proof;
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  return proof;
}
constexpr std::string_view label_called = "piracema called", label_caller = "piracema caller",
                           label_number = "piracema number", label_shared = "piracema shared",
                           label_onward = "piracema onward", label_return = "piracema return";

JobNumber number_of(std::string_view token) {
  const Proof proof = hmac(as_bytes(token), label_number, {});
  JobNumber number;
  std::copy_n(proof.begin(), number.size(), number.begin());
  return number;
}

// In a time that tells nothing of where they differ.
bool same(const Proof& a, const Proof& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

template <class Fields>
wire::Frame frame_of(std::uint8_t kind, const Fields& fields) {
  wire::Frame frame;
  frame.kind = kind;
  frame.head = wire::encode(fields);
  return frame;
}

Result<Done> check_kind(const wire::Frame& frame, std::uint8_t wanted) {
  if (frame.kind == wanted) return Done{};
  return Error{Errc::corrupt,
               concat("handshake: want a frame of kind ", wanted, ", found kind ", frame.kind)};
}

template <class Fields>
Result<Fields> fields_of(const wire::Frame& frame, std::uint8_t kind) {
  if (auto right = check_kind(frame, kind); !right) return right.error();
  auto fields = wire::decode<Fields>(frame.head);
  if (!fields) return Error{Errc::corrupt, "handshake: " + fields.error().message};
  return fields;
}

const char* name_of(Purpose purpose) {
  return purpose == Purpose::frames ? "the transport" : "the protocol of control";
}

const char* advice(Purpose purpose) {
  return purpose == Purpose::frames ? "" : ": build the program against the Piracema that runs it";
}

Result<Sealing> sealing_in(std::uint8_t number) {
  if (number <= static_cast<std::uint8_t>(Sealing::required)) return static_cast<Sealing>(number);
  return Error{Errc::corrupt, concat("handshake: want 0 to 3 for the seal, found ", number)};
}

Error wrong_key() { return {Errc::refused, "handshake: it does not have the key of this job"}; }

}  // namespace

std::string public_name(std::string_view token) {
  const JobNumber number = number_of(token);
  return store::to_hex(
      std::string_view(reinterpret_cast<const char*>(number.data()), number.size()));
}

std::uint32_t version_of(Purpose purpose) {
  return purpose == Purpose::frames ? transport_version : control_version;
}

Nonce draw_nonce() {
  prepare_crypto();
  Nonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

Handshake::Handshake(std::string_view token, Purpose purpose, const Nonce& nonce, Sealing sealing,
                     const Nonce& secret)
    : token_(token), purpose_(purpose), nonce_(nonce), sealing_(sealing), secret_(secret) {}

Handshake::~Handshake() {
  sodium_memzero(secret_.data(), secret_.size());
  sodium_memzero(shared_.data(), shared_.size());
}

wire::Frame Handshake::call(const Buffer& about) {
  calls_ = true;
  const bool may_seal = sealing_ != Sealing::never;
  auto frame =
      frame_of(call_kind, CallFields{.version = version_of(purpose_),
                                     .purpose = static_cast<std::uint8_t>(purpose_),
                                     .job = number_of(token_),
                                     .nonce = nonce_,
                                     .sealing = static_cast<std::uint8_t>(sealing_),
                                     .ciphers = may_seal ? ciphers_here() : std::uint8_t{0},
                                     .key = may_seal ? public_key() : PublicKey{},
                                     .about = Buffer(about)});
  transcript_ = Buffer(frame.head);
  return frame;
}

Result<Buffer> Handshake::take_call(const wire::Frame& frame) {
  if (auto right = check_kind(frame, call_kind); !right) return right.error();
  // The version comes first, whatever another version says after it.
  const auto version = wire::Reader(frame.head).number<std::uint32_t>();
  if (version != version_of(purpose_)) {
    return Error{Errc::refused, concat("handshake: want version ", version_of(purpose_), " of ",
                                       name_of(purpose_), ", found ", version, advice(purpose_))};
  }
  auto call = fields_of<CallFields>(frame, call_kind);
  if (!call) return call.error();
  if (call->purpose != static_cast<std::uint8_t>(purpose_)) {
    return Error{Errc::refused, concat("handshake: want a call for ", name_of(purpose_),
                                       ", found one for something else")};
  }
  if (call->job != number_of(token_)) {
    return Error{Errc::refused, "handshake: want this job, found another one"};
  }
  const auto sealing = sealing_in(call->sealing);
  if (!sealing) return sealing.error();
  const auto seals = agree(sealing_, *sealing);
  if (!seals) return seals.error();
  if (*seals) {
    const Cipher cipher = best_of(call->ciphers & ciphers_here());
    if (auto chosen = choose(cipher, call->key); !chosen) return chosen.error();
  }
  transcript_ = Buffer(frame.head);
  return std::move(call->about);
}

wire::Frame Handshake::answer(const Buffer& about) {
  AnswerFields answer{.nonce = nonce_,
                      .sealing = static_cast<std::uint8_t>(sealing_),
                      .cipher = static_cast<std::uint8_t>(cipher_),
                      .key = cipher_ != Cipher::none ? public_key() : PublicKey{},
                      .about = Buffer(about)};
  const Buffer said = wire::encode(answer);
  transcript_.append(said.data(), said.size() - sizeof(Proof));
  answer.proof = prove(label_called);
  return frame_of(answer_kind, answer);
}

Result<Buffer> Handshake::take_answer(const wire::Frame& frame) {
  auto answer = fields_of<AnswerFields>(frame, answer_kind);
  if (!answer) return answer.error();
  transcript_.append(frame.head.data(), frame.head.size() - sizeof(Proof));
  if (!same(answer->proof, prove(label_called))) return wrong_key();
  const auto sealing = sealing_in(answer->sealing);
  if (!sealing) return sealing.error();
  const auto seals = agree(sealing_, *sealing);
  if (!seals) return seals.error();
  const auto cipher = static_cast<Cipher>(answer->cipher);
  if (*seals != (cipher != Cipher::none)) {
    return Error{Errc::refused, concat("handshake: want a ", *seals ? "sealed" : "plain",
                                       " connection, found a peer that makes another of it")};
  }
  if (*seals) {
    if (auto chosen = choose(cipher, answer->key); !chosen) return chosen.error();
  }
  return std::move(answer->about);
}

wire::Frame Handshake::proof() const {
  return frame_of(proof_kind, ProofFields{.proof = prove(label_caller)});
}

Result<Done> Handshake::take_proof(const wire::Frame& frame) const {
  const auto proof = fields_of<ProofFields>(frame, proof_kind);
  if (!proof) return proof.error();
  if (!same(proof->proof, prove(label_caller))) return wrong_key();
  return Done{};
}

Proof Handshake::prove(std::string_view label) const {
  return hmac(as_bytes(token_), label, transcript_);
}

PublicKey Handshake::public_key() const {
  static_assert(sizeof(PublicKey) == crypto_scalarmult_BYTES);
  static_assert(sizeof(Nonce) == crypto_scalarmult_SCALARBYTES);
  prepare_crypto();
  PublicKey key;
  ENSURE(crypto_scalarmult_base(raw(key.data()), raw(secret_.data())) == 0);
  return key;
}

Result<Done> Handshake::choose(Cipher cipher, const PublicKey& theirs) {
  const unsigned number = static_cast<unsigned>(cipher);
  if (cipher == Cipher::none || number > 7 || (ciphers_here() >> number & 1U) == 0) {
    return Error{Errc::refused,
                 concat("handshake: want a cipher that both have, found number ", number)};
  }
  // It says no to keys that make the same of every secret.
  if (crypto_scalarmult(raw(shared_.data()), raw(secret_.data()), raw(theirs.data())) != 0) {
    return Error{Errc::corrupt, "handshake: want a public key of X25519, found none"};
  }
  cipher_ = cipher;
  return Done{};
}

// As HKDF (RFC 5869): the key of the job and what the two secrets make are brought together, and
// each direction has a key of its own, for all that both have said.
std::optional<SealKeys> Handshake::keys() const {
  if (cipher_ == Cipher::none) return std::nullopt;
  const Proof both = hmac(as_bytes(token_), label_shared, shared_);
  const SealKey onward = hmac(both, label_onward, transcript_);
  const SealKey back = hmac(both, label_return, transcript_);
  return SealKeys{cipher_, calls_ ? onward : back, calls_ ? back : onward};
}

Buffer to_bytes(const Greeting& greeting) { return wire::encode(greeting); }

Result<Greeting> read_greeting(const Buffer& about) {
  auto greeting = wire::decode<Greeting>(about);
  if (!greeting) return Error{Errc::corrupt, "greeting: " + greeting.error().message};
  return greeting;
}

bool is_token(std::string_view text) {
  return text.size() == 32 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string draw_token() {
  const Nonce bytes = draw_nonce();
  std::string token(33, '\0');
  sodium_bin2hex(token.data(), token.size(), raw(bytes.data()), 16);
  token.pop_back();
  return token;
}

}  // namespace piracema::net
