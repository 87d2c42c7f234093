#pragma once

#include <piracema/error.h>

#include <span>
#include <string>
#include <vector>

#include "tools/doctor/machine.h"
#include "tools/finding.h"

/// What `piracema doctor` makes of what it has seen. Pure.
namespace piracema::tools {

/// What streams want, and what all parts share.
std::vector<Finding> judge(const Machine& machine);

/// What the program of a product said for `doctor --json`: a list of objects with `what`, `ok`,
/// `needed`, `text` and perhaps `fix`. Where it says no fix, a known one is added. Errc::corrupt
/// for anything else.
Result<std::vector<Finding>> read_findings(const std::string& part, const std::string& json);

/// The parts that lack what they need, each once, in the order of the findings.
std::vector<std::string> parts_that_lack(std::span<const Finding> findings);

}  // namespace piracema::tools
