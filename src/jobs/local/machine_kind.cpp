#include "jobs/local/machine_kind.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <piracema/bytes.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/text.h"
#include "jobs/protocol/job.h"
#include "wire/checksum.h"

namespace piracema::jobs {

namespace {

namespace fs = std::filesystem;

/// Such as libmpi.so.40.30.4: what the loader's name of it stands for.
std::set<std::string> mpi_libraries() {
  Dl_info where{};
  std::set<std::string> found;
  if (::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &where) == 0) return found;
  std::error_code ignored;
  const fs::path folder = fs::canonical(where.dli_fname, ignored).parent_path();
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("libmpi.so.") && !name.starts_with("libmpich.so.")) continue;
    const fs::path real = fs::canonical(entry.path(), ignored);
    if (!real.empty()) found.insert(real.filename());
  }
  return found;
}

}  // namespace

std::string processor_kind(const std::string& cpuinfo) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    // As x86 and ARM have it.
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    std::string all;
    for (const std::string& word :
         std::set<std::string>(std::istream_iterator<std::string>(words), {})) {
      all += word + ' ';
    }
    char text[16];
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(wire::checksum(as_bytes(all))));
    return text;
  }
  return "";
}

std::string machine_kind() {
  utsname names{};
  ::uname(&names);
  std::ifstream file("/proc/cpuinfo");
  const std::string cpuinfo{std::istreambuf_iterator<char>(file), {}};
  std::string kind =
      concat(names.machine, " cpu-", processor_kind(cpuinfo), " glibc-", ::gnu_get_libc_version());
  for (const std::string& library : mpi_libraries()) kind += ' ' + library;
  kind.resize(std::min(kind.size(), label_bytes_max));
  return kind;
}

}  // namespace piracema::jobs
