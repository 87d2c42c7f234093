#pragma once

#include "tools/top/json_view.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

/// Of an MPI job of `piracema coll`: `all` is what /api/v1/all says, of any kind.
void put_coll_job(TerminalPage& page, const JsonView& all);

}  // namespace piracema::tools
