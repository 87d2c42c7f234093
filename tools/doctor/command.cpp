#include "tools/doctor/command.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "os/helper.h"
#include "tools/doctor/checks.h"
#include "tools/product.h"

namespace piracema::tools {

namespace {

/// Gets a criu; beside the installed commands, else in the source tree.
std::string criu_getter() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = self.parent_path().parent_path() / PIRACEMA_LIBDIR / "piracema/get-criu";
  return std::filesystem::exists(installed, ignored) ? installed.string() : "scripts/get-criu";
}

/// What the product's own program says of the machine; cluster wants no more than that there is
/// one.
std::vector<Finding> ask(const Product& product) {
  const std::string part = product.name, program = program_of(product);
  Finding own{.part = part, .what = "program", .ok = ::access(program.c_str(), X_OK) == 0};
  own.needed = true;
  own.text = own.ok ? program : concat("no ", program);
  if (!own.ok) own.fix = "sudo apt install --reinstall piracema";
  if (!own.ok || part == "cluster") return {own};
  const auto end = ckpt::run_helper({program, part, "doctor", "--json"});
  auto findings = end ? read_findings(part, ckpt::last_line(end->output))
                      : Result<std::vector<Finding>>(end.error());
  if (findings) {
    for (Finding& one : *findings) {
      if (!one.ok && one.what == "criu") one.fix = criu_getter();
    }
    return *std::move(findings);
  }
  own.ok = false;
  own.text = findings.error().message;
  return {own};
}

void print(const std::vector<Finding>& all, const std::vector<std::string>& lacking) {
  for (const Finding& one : all) {
    std::printf(
        "%-8s %-8s %-11s %s\n", one.part.c_str(), state_of(one), one.what.c_str(),
        one.fix.empty() ? one.text.c_str() : concat(one.text, "; mend it: ", one.fix).c_str());
  }
  if (lacking.empty()) {
    std::printf("nothing is missing that a product needs\n");
    return;
  }
  std::string names;
  for (const std::string& part : lacking) names += (names.empty() ? "" : ", ") + part;
  std::printf("something is missing for: %s\n", names.c_str());
}

void print_json(const std::vector<Finding>& all, const std::vector<std::string>& lacking) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Finding& one : all) {
    lines.push_back({{"part", one.part},
                     {"what", one.what},
                     {"ok", one.ok},
                     {"needed", one.needed},
                     {"text", one.text},
                     {"fix", one.fix}});
  }
  const nlohmann::ordered_json report{
      {"ok", lacking.empty()}, {"missing_for", lacking}, {"findings", lines}};
  std::printf("%s\n",
              report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace

void DoctorCommand::add() {
  doctor_ = app_.add_subcommand(
      "doctor", "Say what this machine can and cannot do, and the commands that mend it");
  doctor_->add_flag("--json", json_, "As one JSON object");
  doctor_->footer(
      "It changes nothing; piracema kv doctor, coll doctor and ckpt doctor are parts of it.\n\n"
      "Exit codes:\n"
      "  0 nothing is missing   1 something is missing that a product needs: the last line says\n"
      "  for which   2 usage\n");
}

int DoctorCommand::run() const {
  std::vector<Finding> all = judge(look_at_machine());
  for (const Product& product : products()) {
    std::vector<Finding> more = ask(product);
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
  const auto lacking = parts_that_lack(all);
  json_ ? print_json(all, lacking) : print(all, lacking);
  return lacking.empty() ? 0 : 1;
}

}  // namespace piracema::tools
