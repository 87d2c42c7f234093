#pragma once

#include <piracema/error.h>

#include "smr/request.h"

namespace piracema::smr {

/// What a batch may hold; decoding refuses more.
constexpr std::size_t batch_requests_max = 65'536;
constexpr std::size_t batch_bytes_max = std::size_t{64} << 20;

/// Encodes and digests once, for all who will send, store or vote on it.
BatchPtr make_batch(std::uint64_t time, std::vector<Request> requests);

/// Takes the bytes over. Errc::corrupt for what no correct leader sends.
Result<BatchPtr> decode_batch(Buffer encoded);

/// Of one request on the wire: for bounds, before it is encoded.
std::size_t encoded_bytes(const Request& request);
void encode(const Request& request, Buffer& out);
/// Exactly one request. Errc::corrupt otherwise.
Result<Request> decode_request(Bytes in);

}  // namespace piracema::smr
