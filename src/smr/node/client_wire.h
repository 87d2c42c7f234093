#pragma once

#include <cstdint>

/// What a message on a link is (docs/formats/smr_wire.md).
namespace piracema::smr {

/// Between replicas: order/messages.h.
constexpr std::uint8_t replica_message_kind = 0;

}  // namespace piracema::smr
