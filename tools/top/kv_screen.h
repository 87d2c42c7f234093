#pragma once

#include "tools/top/json_view.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

/// Of a replica of `piracema kv`: `all` is what /api/v1/all says, of any kind.
void put_kv_replica(TerminalPage& page, const JsonView& all);

}  // namespace piracema::tools
