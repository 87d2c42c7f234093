#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include "smr/ids.h"

namespace piracema::smr {

/// Of all that replicas and clients say to each other (docs/formats/smr_wire.md).
constexpr std::uint16_t wire_version = 8;

std::array<std::byte, 16> group_digest(const std::string& group);

/// In place of a handshake a stranger may ask a replica who leads: it has no key, so it is told
/// nothing else, and nothing proves the answer. As long as the longest answer, so that nobody is
/// made to send more than was sent to it.
Buffer leader_question(const std::string& group);
bool is_leader_question(Bytes message);
/// Errc::refused for another version or group, Errc::corrupt for another size.
Result<Done> check_leader_question(Bytes message, const std::string& group);

/// Who leads as far as the replica knows that was asked.
struct LeaderAnswer {
  ViewId view = 0;
  Regency regency = 0;
  ReplicaId leader = 0;
  /// Where replicas and clients reach it; empty if that is not known.
  std::string address;
  auto fields() { return std::tie(view, regency, leader, address); }
};
Buffer encode(LeaderAnswer answer);
/// Errc::corrupt.
Result<LeaderAnswer> decode_leader_answer(Bytes message);

}  // namespace piracema::smr
