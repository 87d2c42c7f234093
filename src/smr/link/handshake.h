#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "smr/link/keys.h"
#include "smr/link/leader_question.h"
#include "smr/link/record_guard.h"

namespace piracema::smr {

/// Who speaks on a link.
struct PeerName {
  enum class Role : std::uint8_t { replica, client };
  Role role = Role::replica;
  /// A ReplicaId, or a ClientId.
  std::uint64_t id = 0;
  auto operator<=>(const PeerName&) const = default;
};
/// "replica 2", "client 7".
std::string to_text(const PeerName& name);

/// What one side of a link is, and may prove.
struct Self {
  /// Of the group; others are strangers.
  std::string group;
  PeerName name;
  KeyPair key;
  /// Whether AES is fast here; it is used if it is on both sides.
  bool aes = has_aes();
};

/// Keys that only the two ends of one connection have, one for each direction.
struct LinkKeys {
  RecordKey send{}, receive{};
  Protection protection;
};

/// How two that know each other's public keys agree on keys for one connection, without I/O:
///
///     dialler  -> hello:  who calls whom, a fresh X25519 key
///     acceptor -> answer: its fresh key, its signature under both messages
///     dialler  -> proof:  its signature under all of it
///
/// or, if the dialler is none of its peers,
///
///     acceptor -> refusal: its signature under hello and that
///
/// (station-to-station; docs/formats/smr_wire.md). The fresh keys make what was recorded useless
/// for another connection; the signatures show that nobody stands between.
class Handshake {
 public:
  /// The key that somebody has to prove to own; nullopt for a stranger.
  using KeyOf = std::function<std::optional<PublicKey>(const PeerName&)>;

  /// The side that begins: `hello` is to be sent.
  Handshake(const Self& self, PeerName whom, PublicKey key_of_whom);
  /// The side that is called. `leader`, if it is not null, tells whoever asks with a LeaderQuestion
  /// in place of a hello: that is Errc::not_found for the link, which has no more to say.
  Handshake(const Self& self, KeyOf key_of, std::function<LeaderAnswer()> leader = {});

  /// The link leaves this host, as far as this end can see: it is sealed, whatever the other end
  /// sees. Before the first message.
  void want_seal() { wants_seal_ = true; }

  Buffer hello();

  /// Takes the peer's next message, appends ours, if any, to `answer`. True once the peer is
  /// known. Errc::corrupt for what no peer sends, Errc::refused for a stranger, another group or
  /// version, a wrong signature; there is no going on after these, but `answer` is still to be
  /// sent: a stranger is told so, in fewer bytes than his hello had, by whom he wanted.
  Result<bool> take(Bytes message, Buffer& answer);

  /// The peer has signed that it does not know us: it is not somebody else who keeps us out.
  bool is_refused() const { return is_refused_; }

  /// Once known.
  const PeerName& peer() const { return peer_; }
  const LinkKeys& keys() const { return keys_; }

 private:
  Result<bool> take_hello(Bytes message, Buffer& answer);
  Result<bool> take_question(Bytes message, Buffer& answer);
  Result<bool> take_answer(Bytes message, Buffer& answer);
  Result<bool> take_proof(Bytes message);
  void refuse_stranger(Bytes hello, Buffer& answer);
  Error refusal(Bytes message);
  Result<Done> agree(Bytes fresh_key, bool dialler);
  Buffer to_sign(std::string_view label) const;

  const Self& self_;
  const KeyOf key_of_;
  const std::function<LeaderAnswer()> leader_;
  PeerName peer_;
  PublicKey peer_key_{};
  enum class Wants { hello, answer, proof, nothing } wants_;
  bool is_refused_ = false, wants_seal_ = false;

  std::array<std::byte, 32> fresh_secret_, fresh_public_;
  /// All that was said.
  Buffer transcript_;
  LinkKeys keys_;
};

}  // namespace piracema::smr
