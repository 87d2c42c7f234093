#pragma once

#include <piracema/bytes.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// What a client asks for.
enum class Kind : std::uint8_t {
  ordered,      ///< invoke_ordered: conflicts come from StateMachine::keys.
  parallel,     ///< invoke_parallel: conflicts come from the client's group (paper 003, section 3).
  open,         ///< Opens a session; signed.
  close,        ///< Ends it.
  reconfigure,  ///< A change of the view; signed by the administrator.
  admit,        ///< A client comes, goes, or gets another key; signed by the administrator.
};

/// Belongs to no session, and an administrator's signature alone counts.
constexpr bool is_for_administrators(Kind kind) {
  return kind == Kind::reconfigure || kind == Kind::admit;
}
constexpr bool has_session(Kind kind) { return kind != Kind::open && !is_for_administrators(kind); }

/// One operation, as a client sent it.
struct Request {
  ClientId client = 0;
  /// A client may have several; each has its own sequence. Given by the reply to `open`.
  std::uint64_t session = 0;
  Sequence sequence = 0;
  Kind kind = Kind::ordered;
  /// Of Kind::parallel: paper 003, Algorithm 2.
  std::uint32_t group = 0;
  Buffer operation;
  /// The proof of origin: one MAC for each replica of the view, or one signature. Opaque to all
  /// but the Authenticator; empty with crash faults only where links are authenticated.
  Buffer proof;
};

/// What one instance of consensus decides on: requests in their order, and the leader's clock.
struct Batch {
  std::uint64_t time = 0;
  std::vector<Request> requests;
  /// The batch on the wire and in the log (order/batch.h); made once.
  Buffer encoded;
  /// Of `encoded`; what replicas vote on.
  Digest digest{};
};
/// Shared by all who hold it; nobody changes it.
using BatchPtr = std::shared_ptr<const Batch>;

/// Checks and makes proofs; the core's only view of cryptography, so that the simulator can use a
/// cheap one and give Byzantine replicas no keys but their own. A pure function of its keys. Any
/// thread.
class Authenticator {
 public:
  virtual ~Authenticator() = default;

  /// Whether the client really asked for this, as far as this replica can tell. A MAC convinces
  /// only the replica it was made for: others may find otherwise.
  virtual bool verify(const Request& request) const = 0;
  /// This replica's signature, which convinces everybody; for what is rare.
  virtual Buffer sign(Bytes what) const = 0;
  virtual bool verify(ReplicaId signer, Bytes what, Bytes signature) const = 0;
};

}  // namespace piracema::smr
