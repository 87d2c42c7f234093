#pragma once

#include <string>
#include <vector>

namespace piracema::tools {

/// What a doctor says in a line.
struct Finding {
  /// Who wants it: machine, streams, or a product.
  std::string part;
  std::string what;
  bool ok = false;
  /// The part does not work without it; else it is worth knowing.
  bool needed = false;
  /// What was found.
  std::string text;
  /// The command that mends it; empty if it is ok, or none is known.
  std::string fix;
};

/// In a column: "ok", "MISSING" if it is needed, else "-".
const char* state_of(const Finding& finding);

/// Prints what the doctor of one product has found: a line each, or a JSON list, which
/// `piracema doctor` reads. The exit code: 1 if something is missing that is needed.
int print_findings(const std::vector<Finding>& findings, bool as_json);

}  // namespace piracema::tools
