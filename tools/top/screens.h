#pragma once

#include <string>

#include "tools/top/json_view.h"
#include "tools/top/terminal_page.h"

namespace piracema::tools {

// One for each kind that /api/v1/all has; `all` is what it says.
void put_stream(TerminalPage& page, const JsonView& all);
void put_coll_job(TerminalPage& page, const JsonView& all);
void put_ckpt_job(TerminalPage& page, const JsonView& all);
void put_ckpt_queue(TerminalPage& page, const JsonView& all);
void put_kv_replica(TerminalPage& page, const JsonView& all);
void put_cluster(TerminalPage& page, const JsonView& all);

/// "1.2 ms"; "-" where it is not known.
std::string known_seconds(const JsonView& one, const char* name);

}  // namespace piracema::tools
