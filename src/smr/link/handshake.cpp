#include "smr/link/handshake.h"

#include <sodium.h>

#include <algorithm>

#include "base/crypto.h"
#include "base/ensure.h"
#include "base/hint.h"
#include "base/text.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

namespace {

/// "PSMR" and the version of all that replicas and clients say to each other.
constexpr std::uint32_t magic = 0x524D5350;
/// What a hello offers, or wants, and an answer decides.
constexpr unsigned aes_bit = 1, seal_bit = 2;
constexpr std::size_t fresh_bytes = crypto_scalarmult_curve25519_BYTES;

constexpr std::size_t hello_bytes = 4 + 2 + 1 + 16 + 9 + 9 + fresh_bytes;
constexpr std::size_t answer_bytes = 1 + fresh_bytes + signature_bytes;
/// Only that, so that it cannot be taken for an answer; and less than a hello, so that strangers
/// make nobody send more than they send.
constexpr std::size_t refusal_bytes = signature_bytes;
static_assert(refusal_bytes < hello_bytes);

void write_name(wire::Writer& writer, const PeerName& name) {
  writer.number(static_cast<std::uint8_t>(name.role));
  writer.number(name.id);
}
PeerName read_name(wire::Reader& reader) {
  PeerName name;
  name.role = reader.number<std::uint8_t>() == 0 ? PeerName::Role::replica : PeerName::Role::client;
  name.id = reader.number<std::uint64_t>();
  return name;
}

std::uint8_t bits_of(const Protection& protection) {
  return static_cast<std::uint8_t>((protection.aes ? aes_bit : 0) |
                                   (protection.sealed ? seal_bit : 0));
}
std::optional<Protection> protection_of(std::byte bits) {
  const auto number = std::to_integer<unsigned>(bits);
  if (number > (aes_bit | seal_bit)) return std::nullopt;
  return Protection{(number & aes_bit) != 0, (number & seal_bit) != 0};
}

Error corrupt(std::string_view what) { return {Errc::corrupt, concat("handshake: ", what)}; }
Error refused(std::string_view what) { return {Errc::refused, concat("handshake: ", what)}; }

}  // namespace

std::string to_text(const PeerName& name) {
  return concat(name.role == PeerName::Role::replica ? "replica " : "client ", name.id);
}

Handshake::Handshake(const Self& self, PeerName whom, PublicKey key_of_whom)
    : self_(self), peer_(whom), peer_key_(key_of_whom), wants_(Wants::answer) {}

Handshake::Handshake(const Self& self, KeyOf key_of, std::function<LeaderAnswer()> leader)
    : self_(self), key_of_(std::move(key_of)), leader_(std::move(leader)), wants_(Wants::hello) {}

Buffer Handshake::hello() {
  ENSURE(wants_ == Wants::answer);
  crypto_box_keypair(raw(fresh_public_.data()), raw(fresh_secret_.data()));
  Buffer out;
  wire::Writer writer(out);
  writer.number(magic);
  writer.number(wire_version);
  writer.number(bits_of({self_.aes, wants_seal_}));
  const auto group = group_digest(self_.group);
  out.append(group.data(), group.size());
  write_name(writer, self_.name);
  write_name(writer, peer_);
  out.append(fresh_public_.data(), fresh_public_.size());
  transcript_ = out;
  return out;
}

Result<bool> Handshake::take(Bytes message, Buffer& answer) {
  switch (wants_) {
    case Wants::hello:
      return take_hello(message, answer);
    case Wants::answer:
      return take_answer(message, answer);
    case Wants::proof:
      return take_proof(message);
    case Wants::nothing:
      break;
  }
  return corrupt("a message too many");
}

Result<bool> Handshake::take_hello(Bytes message, Buffer& answer) {
  wire::Reader reader(message);
  if (leader_ && is_leader_question(message)) return take_question(message, answer);
  if (reader.number<std::uint32_t>() != magic) return corrupt("these are not our bytes");
  const auto their_version = reader.number<std::uint16_t>();
  if (their_version != wire_version) {
    return refused(with_hint(concat("want version ", wire_version, ", found ", their_version),
                             other_version_hint));
  }
  if (message.size() != hello_bytes) return corrupt("a hello of another size");
  const auto group = group_digest(self_.group);
  if (!std::equal(group.begin(), group.end(), message.begin() + 7)) {
    return refused(concat("want the group '", self_.group, "', found another one"));
  }
  wire::Reader names(message.subspan(7 + group.size()));
  peer_ = read_name(names);
  const PeerName wanted = read_name(names);
  if (wanted != self_.name) {
    return refused(
        concat(to_text(peer_), " wants ", to_text(wanted), ", this is ", to_text(self_.name)));
  }
  const auto key = key_of_(peer_);
  if (!key) {
    refuse_stranger(message, answer);
    return refused(concat(to_text(peer_), " is not known here"));
  }
  peer_key_ = *key;

  const auto offered = protection_of(message[6]);
  if (!offered) return corrupt("a hello with unknown bits");
  // One that sees another host is enough: the other may see a proxy on its own.
  keys_.protection = {.aes = self_.aes && offered->aes, .sealed = wants_seal_ || offered->sealed};
  crypto_box_keypair(raw(fresh_public_.data()), raw(fresh_secret_.data()));
  transcript_ = Buffer(message);
  wire::Writer(transcript_).number(bits_of(keys_.protection));
  transcript_.append(fresh_public_.data(), fresh_public_.size());
  const Buffer signature = self_.key.sign(to_sign("answer"));
  transcript_.append(signature.data(), signature.size());
  answer.append(transcript_.data() + message.size(), answer_bytes);
  if (auto agreed = agree(message.last(fresh_bytes), false); !agreed) return agreed.error();
  wants_ = Wants::proof;
  return false;
}

Result<bool> Handshake::take_question(Bytes message, Buffer& answer) {
  wants_ = Wants::nothing;
  if (auto right = check_leader_question(message, self_.group); !right) return right.error();
  answer = encode(leader_());
  return Error{Errc::not_found, "handshake: asked who leads, and was told"};
}

// The hello has a fresh key, so this is of no use to anybody else, nor later.
void Handshake::refuse_stranger(Bytes hello, Buffer& answer) {
  transcript_ = Buffer(hello);
  const Buffer signature = self_.key.sign(to_sign("refusal"));
  answer.append(signature.data(), signature.size());
}

Error Handshake::refusal(Bytes message) {
  if (!verify_signature(peer_key_, to_sign("refusal"), message)) {
    return refused(concat("the signature is not that of ", to_text(peer_)));
  }
  is_refused_ = true;
  return refused(concat(to_text(self_.name), " is not known to ", to_text(peer_)));
}

Result<bool> Handshake::take_answer(Bytes message, Buffer& answer) {
  if (message.size() == refusal_bytes) return refusal(message);
  if (message.size() != answer_bytes) return corrupt("an answer of another size");
  transcript_.append(message.data(), 1 + fresh_bytes);
  if (!verify_signature(peer_key_, to_sign("answer"), message.subspan(1 + fresh_bytes))) {
    return refused(concat("the signature is not that of ", to_text(peer_)));
  }
  transcript_.append(message.data() + 1 + fresh_bytes, signature_bytes);
  const auto decided = protection_of(message[0]);
  if (!decided || (decided->aes && !self_.aes) || (wants_seal_ && !decided->sealed)) {
    return corrupt("records are to be guarded in another way than was offered");
  }
  keys_.protection = *decided;
  if (auto agreed = agree(message.subspan(1, fresh_bytes), true); !agreed) return agreed.error();
  const Buffer signature = self_.key.sign(to_sign("proof"));
  answer.append(signature.data(), signature.size());
  wants_ = Wants::nothing;
  return true;
}

Result<bool> Handshake::take_proof(Bytes message) {
  if (message.size() != signature_bytes) return corrupt("a proof of another size");
  if (!verify_signature(peer_key_, to_sign("proof"), message)) {
    return refused(concat("the signature is not that of ", to_text(peer_)));
  }
  wants_ = Wants::nothing;
  return true;
}

Result<Done> Handshake::agree(Bytes fresh_key, bool dialler) {
  std::array<std::byte, 32> secret;
  // Fails for the few points that would make the secret known to all.
  const bool agreed = crypto_scalarmult_curve25519(raw(secret.data()), raw(fresh_secret_.data()),
                                                   raw(fresh_key.data())) == 0;
  sodium_memzero(fresh_secret_.data(), fresh_secret_.size());
  if (!agreed) return corrupt("a key that is none");
  const RecordKey forth = derive_record_key(secret, "dialler to acceptor", transcript_);
  const RecordKey back = derive_record_key(secret, "acceptor to dialler", transcript_);
  sodium_memzero(secret.data(), secret.size());
  keys_.send = dialler ? forth : back;
  keys_.receive = dialler ? back : forth;
  return Done{};
}

Buffer Handshake::to_sign(std::string_view label) const {
  Buffer bytes{as_bytes("piracema smr handshake ")};
  bytes.append(label.data(), label.size());
  bytes.append(transcript_.data(), transcript_.size());
  return bytes;
}

}  // namespace piracema::smr
