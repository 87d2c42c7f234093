#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"

/// Descriptors that one process hands to another over a local socket (unix(7), SCM_RIGHTS).
namespace piracema::net {

/// No more than this many with one message.
constexpr std::size_t descriptors_max = 3;

/// Writes all of `bytes`, which are few, with the descriptors, to a socket on which nothing was
/// written yet. Errc::io, also when the socket takes a part of it only.
Result<Done> send_with_descriptors(int socket, Bytes bytes, std::span<const int> descriptors);

/// As readv(2). What descriptors come along are added to `descriptors`; those above the number
/// are closed.
ssize_t read_with_descriptors(int socket, std::span<iovec> parts, std::vector<Fd>& descriptors);

/// As whom the other end of a local socket ran when it was connected; nothing: that is not known.
std::optional<uid_t> user_of(int socket);
/// Whether that is the user of this process.
bool is_our_user(int socket);

}  // namespace piracema::net
