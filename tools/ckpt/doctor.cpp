#include "tools/ckpt/doctor.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ckpt/doctor.h"
#include "tools/ckpt/program.h"

namespace piracema::tools {

using namespace ckpt;

int show_doctor(const std::string& criu, bool as_json) {
  const auto all = examine(criu, this_program());
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  bool ok = true;
  for (const Finding& one : all) {
    ok = ok && (one.ok || !one.needed);
    lines.push_back(
        {{"what", one.what}, {"ok", one.ok}, {"needed", one.needed}, {"text", one.text}});
    if (!as_json) {
      std::printf("%-8s %-11s %s\n",
                  one.ok       ? "ok"
                  : one.needed ? "MISSING"
                               : "-",
                  one.what.c_str(), one.text.c_str());
    }
  }
  if (as_json)
    std::printf("%s\n",
                lines.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return ok ? 0 : 1;
}

}  // namespace piracema::tools
