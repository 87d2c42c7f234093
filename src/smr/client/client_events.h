#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "smr/request.h"
#include "smr/view.h"

/// What a client's machine is told, and what it wants done.
namespace piracema::smr::client {

/// Names in its answer what was asked for. Chosen by whoever asks: each once, and never 0.
using Ticket = std::uint64_t;

// ---- events ---------------------------------------------------------------------------------

/// `kind` is ordered, parallel or close; an administrator's, admit or reconfigure. The last is
/// answered when the view has changed, in whatever way.
struct OrderWanted {
  Ticket ticket = 0;
  Kind kind = Kind::ordered;
  std::uint32_t group = 0;
  Buffer operation;
  Time deadline{};
};
/// Without a place in the order where that can be had. `is_held`: to be answered when there is
/// something to tell.
struct ReadWanted {
  Ticket ticket = 0;
  Buffer operation;
  Time deadline{};
  bool is_held = false;
};
/// These are to be called as well, who are no members, or not yet.
struct Met {
  std::vector<MemberInfo> replicas;
};
/// All that are connected are to be asked what they are.
struct StatusesWanted {};
/// What is sent to this replica from now on may arrive.
struct LinkUp {
  ReplicaId replica = 0;
};
/// It does not any more, or still does not. `is_refused`: the replica says that it does not know
/// this client.
struct LinkDown {
  ReplicaId replica = 0;
  std::string why;
  bool is_refused = false;
};
/// A replica says something (smr/link/client_wire.h); the bytes are there for as long as the step.
struct Heard {
  ReplicaId from = 0;
  std::uint8_t kind = 0;
  Bytes message;
};
/// Time has passed: `next_deadline` was reached.
struct Tick {};

using Event =
    std::variant<OrderWanted, ReadWanted, Met, StatusesWanted, LinkUp, LinkDown, Heard, Tick>;

// ---- actions --------------------------------------------------------------------------------

/// May be lost.
struct Send {
  ReplicaId to = 0;
  std::uint8_t kind = 0;
  std::shared_ptr<const Buffer> message;
};
/// Once for each ticket. Errors: timeout (it may have been executed), refused (not executed: too
/// large, or this is no client of the group; or the session is gone and nobody knows; the message
/// says which).
struct Answer {
  Ticket ticket = 0;
  Result<Buffer> result;
};
/// From now on this one is to be called until it answers, and again when its link is lost.
struct Connect {
  MemberInfo replica;
};
/// No more; nothing of it is to be told from now on.
struct Disconnect {
  ReplicaId replica = 0;
};

using Action = std::variant<Send, Answer, Connect, Disconnect>;

}  // namespace piracema::smr::client
