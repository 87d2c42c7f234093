#include "bench/common/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/text.h"

namespace piracema::bench {

Machine this_machine() {
  Machine machine;
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) {
    machine.cores = static_cast<unsigned>(CPU_COUNT(&cores));
  }
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; machine.processor.empty() && std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) {
      machine.processor = line.substr(colon + 2);
    }
  }
  utsname name{};
  if (::uname(&name) == 0) machine.kernel = concat(name.sysname, ' ', name.release);
  machine.memory_gb = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9;
  double load = 0;
  if (::getloadavg(&load, 1) == 1) machine.load = load;
  return machine;
}

std::string to_text(const Machine& machine) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%.0f GB, load %.1f", machine.memory_gb, machine.load);
  return concat(machine.cores, machine.cores == 1 ? " core" : " cores",
                machine.processor.empty() ? "" : concat(" (", machine.processor, ")"), ", ",
                machine.kernel, ", ", std::string_view(numbers));
}

}  // namespace piracema::bench
