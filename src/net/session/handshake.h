#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/ids.h"
#include "net/session/sealing.h"
#include "net/socket/records.h"
#include "wire/frame.h"

namespace piracema::net {

/// Kinds of the three frames of a handshake; docs/formats/frame.md.
constexpr std::uint8_t call_kind = 255, answer_kind = 254, proof_kind = 253;

/// What a connection is for; each has a version of what is said on it.
enum class Purpose : std::uint8_t {
  frames = 1,   ///< Between two processes of a job.
  control = 2,  ///< Between a process of a job, or an agent, and the coordinator.
};
constexpr std::uint32_t transport_version = 8;
constexpr std::uint32_t control_version = 17;
std::uint32_t version_of(Purpose purpose);

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;
/// Of X25519.
using PublicKey = std::array<std::byte, 32>;
/// 32 bytes that were never drawn before. Ends the process if the machine has no random numbers.
Nonce draw_nonce();

/// What a job may be called where everybody can read it: 16 hexadecimal digits that its key has
/// alone and that do not tell it.
std::string public_name(std::string_view token);

/// How two that share the key of a job show each other that they do, without saying it; pure.
///
///     caller -> called: version, purpose, number of the job, nonce, what it wants of a seal,
///                       ciphers, public key, what it says of itself
///     called -> caller: nonce, what it wants of a seal, cipher, public key, what it says of
///     itself,
///                       HMAC of all this
///     caller -> called: HMAC of all this, with another label
///
/// (ISO/IEC 9798-4, three passes: both nonces and both sides' words are in both proofs, so none can
/// be used again, for another connection, or be sent back to who made it.) The public keys are of
/// this connection alone: who learns the key of the job later cannot open what was sealed before.
class Handshake {
 public:
  /// `token`: the key of the job (`is_token`). `nonce` comes from `draw_nonce`, and so does
  /// `secret`, from another call.
  Handshake(std::string_view token, Purpose purpose, const Nonce& nonce,
            Sealing sealing = Sealing::possible, const Nonce& secret = draw_nonce());
  Handshake(const Handshake&) = default;
  ~Handshake();

  // ---- the side that calls, in this order
  wire::Frame call(const Buffer& about);
  /// What the other side says of itself; it has the key.
  Result<Buffer> take_answer(const wire::Frame& frame);
  wire::Frame proof() const;

  // ---- the side that is called, in this order
  /// What the caller says of itself, which is not proven yet.
  Result<Buffer> take_call(const wire::Frame& frame);
  wire::Frame answer(const Buffer& about);
  Result<Done> take_proof(const wire::Frame& frame) const;

  /// Once the other side has shown its key: what this side seals and opens all that follows with;
  /// none if it stays plain.
  std::optional<SealKeys> keys() const;

  // Errc::corrupt for a frame that does not belong here, Errc::refused for another version, purpose
  // or job, or for a side that wants a seal where the other has none; there is no going on after
  // these.

 private:
  Proof prove(std::string_view label) const;
  PublicKey public_key() const;
  Result<Done> choose(Cipher cipher, const PublicKey& theirs);

  const std::string token_;
  const Purpose purpose_;
  const Nonce nonce_;
  const Sealing sealing_;
  /// Of X25519, of this connection alone.
  Nonce secret_;
  bool calls_ = false;
  /// What both have agreed on, and what the two secrets make; zeros where nothing is sealed.
  Cipher cipher_ = Cipher::none;
  SealKey shared_{};
  /// All that was said before the proofs.
  Buffer transcript_;
};

/// What two processes of a job say of themselves in a handshake for frames.
struct Greeting {
  Slot slot = 0;
  std::uint32_t incarnation = 0;
  /// Where frames are to go by MPI, if both are of the same world: its number, 0 for none, and the
  /// speaker's rank and tag there.
  std::uint64_t mpi_world = 0;
  std::uint32_t mpi_rank = 0, mpi_tag = 0;
  auto fields() { return std::tie(slot, incarnation, mpi_world, mpi_rank, mpi_tag); }
};
Buffer to_bytes(const Greeting& greeting);
/// Errc::corrupt.
Result<Greeting> read_greeting(const Buffer& about);

/// 32 hexadecimal digits.
bool is_token(std::string_view text);
/// One that nobody can guess.
std::string draw_token();

}  // namespace piracema::net
