#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What the kernel holds of a job's TCP without any process holding it, so that no image can: it
/// passes, and then the job can be saved.
namespace piracema::ckpt {

/// From the text of /proc/net/tcp or tcp6: connections that are being opened, or that nobody has
/// accepted yet, and what was written to one before it was closed and has not arrived. Each in
/// words, such as "port 4711 has a connection that the job has not accepted yet"; lines that are
/// not understood are passed by.
std::vector<std::string> connections_under_way(std::string_view table);

/// Of the caller's network namespace.
std::vector<std::string> connections_under_way();

}  // namespace piracema::ckpt
