#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "smr/ids.h"
#include "smr/service/reply.h"

/// What a message on a link is (docs/formats/smr_wire.md). A client and a replica:
///
///     client   -> submit: a request;  read: an operation that changes nothing;  hold: the same,
///                 to be answered when there is something to tell;  status
///     replica  -> standing: who leads;  new_view: a signed view;  reply, read_reply,
///                 status_reply
namespace piracema::smr {

/// Between replicas: order/messages.h.
constexpr std::uint8_t replica_message_kind = 0;
/// A Request, as order/batch.h encodes it.
constexpr std::uint8_t submit_kind = 1;
/// ReadHead, then the operation.
constexpr std::uint8_t read_kind = 2;
/// Nothing; answered with StatusTold.
constexpr std::uint8_t status_kind = 3;
/// As read_kind, for an answer when there is something to tell.
constexpr std::uint8_t hold_kind = 4;
constexpr std::uint8_t standing_kind = 16;
/// A SignedView, as order/messages.h encodes it.
constexpr std::uint8_t new_view_kind = 17;
/// ReplyHead, then the result.
constexpr std::uint8_t reply_kind = 18;
/// ReadReplyHead, then the result.
constexpr std::uint8_t read_reply_kind = 19;
constexpr std::uint8_t status_reply_kind = 20;

struct ReadHead {
  /// Of the client's choice; it comes back.
  std::uint64_t token = 0;
  auto fields() { return std::tie(token); }
};
/// A hint, told when a client comes and when it changes.
struct Standing {
  ViewId view = 0;
  Regency regency = 0;
  ReplicaId leader = 0;
  auto fields() { return std::tie(view, regency, leader); }
};
/// For people: what one replica says of itself. No proof of anything.
struct StatusTold {
  ViewId view = 0;
  Regency regency = 0;
  ReplicaId leader = 0;
  Instance decided = 0;
  bool is_member = false;
  /// It has lost its memory, and votes for nothing.
  bool silent = false;
  /// Connections of clients.
  std::uint64_t clients = 0;
  /// Members that it is connected to.
  std::vector<ReplicaId> connected;
  /// Pieces of the checkpoint that it fetches, as far as it has them; 0 of 0 if it fetches none.
  std::uint32_t pieces = 0, pieces_of = 0;
  auto fields() {
    return std::tie(view, regency, leader, decided, is_member, silent, clients, connected, pieces,
                    pieces_of);
  }
};
/// Also what a replica of an earlier version sends, which ends with `connected`. Errc::corrupt.
Result<StatusTold> decode_status(Bytes message);
struct ReplyHead {
  std::uint64_t session = 0;
  Sequence sequence = 0;
  ReplyStatus status = ReplyStatus::done;
  auto fields() { return std::tie(session, sequence, status); }
};
constexpr std::size_t reply_head_bytes = 8 + 8 + 1;
struct ReadReplyHead {
  std::uint64_t token = 0;
  /// False: this replica cannot tell; another may.
  bool known = false;
  auto fields() { return std::tie(token, known); }
};
constexpr std::size_t read_reply_head_bytes = 8 + 1;

/// A message of a fixed part and a rest, without a copy of the rest.
template <class Head>
struct HeadAndRest {
  Head head;
  Bytes rest;
};
Result<HeadAndRest<ReadHead>> decode_read(Bytes message);
Result<HeadAndRest<ReplyHead>> decode_reply(Bytes message);
Result<HeadAndRest<ReadReplyHead>> decode_read_reply(Bytes message);

}  // namespace piracema::smr
