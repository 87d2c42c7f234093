#include "tools/coll/doctor.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/process.h"
#include "tools/coll/mpi.h"

namespace piracema::tools {

namespace {

struct Family {
  const char *name, *mpi, *package;
};
constexpr Family families[] = {{"openmpi", "Open MPI", "openmpi-bin"}, {"mpich", "MPICH", "mpich"}};

/// The first of the family among its own name and those that the families share: "mpirun.mpich".
std::string launcher_of(const std::string& family) {
  for (const std::string& name :
       {"mpirun." + family, std::string("mpirun"), std::string("mpiexec")}) {
    const auto path = cluster::find_program(name);
    if (path && mpi_of(*path) == family) return *path;
  }
  return "";
}

std::string compiler_of(const std::string& family, const std::string& launcher) {
  if (const auto own = cluster::find_program("mpicc." + family)) return *own;
  // Where several MPIs are installed, the mpicc beside the launcher is of the same one.
  const auto beside = std::filesystem::path(launcher).parent_path() / "mpicc";
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside.string() : "";
}

nlohmann::ordered_json finding_of(const Family& family) {
  nlohmann::ordered_json line{{"what", family.mpi}, {"ok", false}, {"needed", false}};
  const std::string launcher = launcher_of(family.name);
  if (launcher.empty()) {
    line["text"] = "no launcher";
    line["fix"] = concat("sudo apt install ", std::string_view(family.package));
    return line;
  }
  const std::string compiler = compiler_of(family.name, launcher);
  line["text"] = concat(launcher, ", ", compiler.empty() ? "no mpicc" : compiler);
  const auto library = library_of(family.name);
  line["ok"] = library.ok();
  if (!library) {
    line["text"] = concat(line["text"].get<std::string>(), "; ", library.error().message);
    line["fix"] = "sudo apt install piracema-mpi";
  }
  return line;
}

}  // namespace

int coll_doctor(bool as_json) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  bool any = false;
  for (const Family& family : families) {
    lines.push_back(finding_of(family));
    any = any || lines.back()["ok"].get<bool>();
  }
  if (!any) {
    // One will do, so neither is needed by itself.
    lines.push_back({{"what", "an MPI"},
                     {"ok", false},
                     {"needed", true},
                     {"text", "want Open MPI or MPICH, and the library for it"},
                     {"fix", "sudo apt install openmpi-bin piracema-mpi"}});
  }
  if (as_json) {
    std::printf("%s\n",
                lines.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return any ? 0 : 1;
  }
  for (const auto& line : lines) {
    const char* state = line["ok"].get<bool>()       ? "ok"
                        : line["needed"].get<bool>() ? "MISSING"
                                                     : "-";
    const std::string fix = line.contains("fix") ? "; " + line["fix"].get<std::string>() : "";
    std::printf("%-8s %-11s %s%s\n", state, line["what"].get<std::string>().c_str(),
                line["text"].get<std::string>().c_str(), fix.c_str());
  }
  return any ? 0 : 1;
}

}  // namespace piracema::tools
