#pragma once

#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema coll report [--dot] FILE`: prints a report of `PIRACEMA_COLL_REPORT`; the exit code.
int coll_report(const std::vector<std::string>& arguments);

}  // namespace piracema::tools
