#include "net/session/handshake.h"

#include <sodium.h>

#include <algorithm>

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
  Buffer about;
  auto fields() { return std::tie(version, purpose, job, nonce, about); }
};
struct AnswerFields {
  Nonce nonce{};
  Buffer about;
  Proof proof{};
  auto fields() { return std::tie(nonce, about, proof); }
};
struct ProofFields {
  Proof proof{};
  auto fields() { return std::tie(proof); }
};

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

void prepare() {
  static const bool ready = sodium_init() >= 0;
  ENSURE(ready);
}

Proof hmac(std::string_view token, std::string_view label, Bytes what) {
  static_assert(sizeof(Proof) == crypto_auth_hmacsha256_BYTES);
  prepare();
  crypto_auth_hmacsha256_state state;
  const Bytes key = as_bytes(token), name = as_bytes(label);
  crypto_auth_hmacsha256_init(&state, raw(key.data()), key.size());
  // The labels have one length, so that no two pairs of label and text run together.
  crypto_auth_hmacsha256_update(&state, raw(name.data()), name.size());
  crypto_auth_hmacsha256_update(&state, raw(what.data()), what.size());
  Proof proof;
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(proof.data()));
  return proof;
}
constexpr std::string_view label_called = "piracema called", label_caller = "piracema caller",
                           label_number = "piracema number";

JobNumber number_of(std::string_view token) {
  const Proof proof = hmac(token, label_number, {});
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
  prepare();
  Nonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

Handshake::Handshake(std::string_view token, Purpose purpose, const Nonce& nonce)
    : token_(token), purpose_(purpose), nonce_(nonce) {}

wire::Frame Handshake::call(const Buffer& about) {
  auto frame = frame_of(call_kind, CallFields{.version = version_of(purpose_),
                                              .purpose = static_cast<std::uint8_t>(purpose_),
                                              .job = number_of(token_),
                                              .nonce = nonce_,
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
  transcript_ = Buffer(frame.head);
  return std::move(call->about);
}

wire::Frame Handshake::answer(const Buffer& about) {
  AnswerFields answer{.nonce = nonce_, .about = Buffer(about)};
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

Proof Handshake::prove(std::string_view label) const { return hmac(token_, label, transcript_); }

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
