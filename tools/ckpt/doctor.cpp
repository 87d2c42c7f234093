#include "tools/ckpt/doctor.h"

#include "ckpt/doctor.h"
#include "tools/ckpt/program.h"
#include "tools/finding.h"

namespace piracema::tools {

int show_doctor(const std::string& criu, bool as_json) {
  std::vector<Finding> findings;
  for (const ckpt::Finding& one : ckpt::examine(criu, this_program())) {
    findings.push_back({"ckpt", one.what, one.ok, one.needed, one.text, ""});
  }
  return print_findings(findings, as_json);
}

}  // namespace piracema::tools
