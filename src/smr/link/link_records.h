#pragma once

#include <cstddef>

/// What a link writes and reads (docs/formats/smr_wire.md); nobody else includes it.
namespace piracema::smr {

/// A record: length of the payload, number of the record, payload; its tag once keys are agreed.
constexpr std::size_t record_header_bytes = 4 + 8;
/// In a payload: length, kind, bytes.
constexpr std::size_t message_header_bytes = 4 + 1;
/// A record of more is closed, so that the peer can begin with it.
constexpr std::size_t record_bytes = std::size_t{256} << 10;

}  // namespace piracema::smr
