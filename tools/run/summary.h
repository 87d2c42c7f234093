#pragma once

#include <string>

#include "observe/status/report.h"

namespace piracema::tools {

/// One recovery in a line; `is_last` unless another one came after it.
std::string recovery_text(const cluster::RecoveryReport& recovery, bool is_last);

/// The job in a few lines on standard error: what it did, at which cost, what it survived.
void print_summary(const cluster::JobReport& report);

}  // namespace piracema::tools
