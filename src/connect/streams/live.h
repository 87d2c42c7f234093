#pragma once

#include <string>

#include <piracema/pipe.h>

namespace piracema::detail {

/// Says whether a source of live input can begin: it has one replica, and if others read the same
/// input before it (`again`) there is a journal of that, or it may lose what they read. Throws
/// std::runtime_error, which begins with `name`.
void check_live(const std::string& name, const Context& context, const LiveOptions& options,
                bool again);

}  // namespace piracema::detail
