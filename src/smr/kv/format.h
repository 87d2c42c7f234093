#pragma once

#include <piracema/error.h>
#include <piracema/smr/key_value.h>

#include <variant>

namespace piracema::smr::kv {

/// By the number in front of an encoded operation.
using Operation = std::variant<Put, Remove, Get, List, Watch, Grant, KeepAlive, Revoke, Expire,
                               Load, Transaction>;

/// Errc::corrupt for anything that is no operation, or beyond its limits. Clients send what they
/// like.
Result<Operation> decode_operation(Bytes bytes);

Buffer encode_reply(const Reply& reply);

}  // namespace piracema::smr::kv
