#pragma once

#include "observe/http/server.h"

namespace piracema::observe {

/// The token that is asked for at this address. Errc::config.
Result<std::string> http_token(const HttpOptions& options, const net::Address& address);

}  // namespace piracema::observe
