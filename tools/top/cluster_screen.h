#pragma once

#include "tools/top/json_view.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

/// Of a cluster: `all` is what /api/v1/all says, of any kind.
void put_cluster(TerminalPage& page, const JsonView& all);

}  // namespace piracema::tools
