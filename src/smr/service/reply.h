#pragma once

#include <piracema/bytes.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// What became of a request.
enum class ReplyStatus : std::uint8_t {
  /// Executed, now or when it came first: the result is the state machine's, of `open` an encoded
  /// SessionOpened, of `close` nothing.
  done,
  /// There is no such session: closed, evicted in favour of others, or never opened. Not executed
  /// now; perhaps when it came first. The client opens another one. Of `open`: its number is not
  /// above that of another one of this client, which the result says, as an encoded Outnumbered.
  no_session,
  /// So old that it is not known any more: if it was executed, its reply is gone. Not executed now.
  /// Of `admit`: its number is below that of the last one, which the result says as above.
  forgotten,
  /// No such request: of an unknown kind, or of sequence 0.
  refused,
};

/// The answer to one request; equal on all replicas.
struct Reply {
  ClientId client = 0;
  std::uint64_t session = 0;
  Sequence sequence = 0;
  ReplyStatus status = ReplyStatus::done;
  /// Shared with the session that keeps it; null is nothing.
  std::shared_ptr<const Buffer> result;
};

/// Takes replies to where they are sent from. Called from any thread, by several at once.
using ReplySink = std::function<void(std::vector<Reply>)>;

/// What an `open` says, or nothing: it is then of life 0.
struct Opens {
  /// Of the process that asks, drawn by it. Two processes of one client may number alike.
  std::uint64_t life = 0;
  auto fields() { return std::tie(life); }
};

/// The result of `open`.
struct SessionOpened {
  std::uint64_t session = 0;
  /// A request may be sent when all those that are so many before it have been answered: what is
  /// older is forgotten.
  std::uint32_t window = 0;
  /// Whose it is (Opens): another process of this client has asked by the same number if it is not
  /// one's own.
  std::uint64_t life = 0;
  auto fields() { return std::tie(session, window, life); }
};

/// Why an `open` opens nothing, or an `admit` changes nothing: it has to have a number above this
/// one. Whoever numbers by a clock may be behind another process of the same client, or itself
/// before its clock was set back.
struct Outnumbered {
  Sequence last = 0;
  auto fields() { return std::tie(last); }
};

}  // namespace piracema::smr
