#pragma once

#include "tools/top/json_view.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

/// Of a job that can be saved, and of a queue of such: `all` is what /api/v1/all says, of any kind.
void put_ckpt_job(TerminalPage& page, const JsonView& all);
void put_ckpt_queue(TerminalPage& page, const JsonView& all);

}  // namespace piracema::tools
