#pragma once

#include <piracema/error.h>

#include <memory>

#include "observe/http/pages.h"
#include "observe/http/server.h"
#include "tools/run/command.h"

namespace piracema::tools {

/// Serves a job, of which these tell, where its command wants it, and says where that is. Null
/// where nobody wants it, or only whoever runs the job, and it cannot be. Errc::config, Errc::io.
Result<std::unique_ptr<observe::HttpServer>> show_job(const RunCommand& command,
                                                      std::shared_ptr<observe::Pages> pages);

}  // namespace piracema::tools
