#include "tools/finding.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace piracema::tools {

const char* state_of(const Finding& finding) {
  if (finding.ok) return "ok";
  return finding.needed ? "MISSING" : "-";
}

int print_findings(const std::vector<Finding>& findings, bool as_json) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Finding& one : findings) {
    lines.push_back(
        {{"what", one.what}, {"ok", one.ok}, {"needed", one.needed}, {"text", one.text}});
    if (!one.fix.empty()) lines.back()["fix"] = one.fix;
    if (as_json) continue;
    const std::string text = one.fix.empty() ? one.text : concat(one.text, "; ", one.fix);
    std::printf("%-8s %-11s %s\n", state_of(one), one.what.c_str(), text.c_str());
  }
  if (as_json) {
    std::printf("%s\n",
                lines.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  const auto is_lacking = [](const Finding& one) { return one.needed && !one.ok; };
  return std::ranges::any_of(findings, is_lacking) ? 1 : 0;
}

}  // namespace piracema::tools
