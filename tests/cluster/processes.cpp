#include "processes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

namespace piracema::testing {

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The file is "NAME=value\0NAME=value\0"; empty for a zombie.
std::optional<std::string> variable(const std::string& environment, const std::string& name) {
  const std::string all = '\0' + environment;
  const std::size_t at = all.find('\0' + name + '=');
  if (at == std::string::npos) return std::nullopt;
  return std::string(all.c_str() + at + name.size() + 2);
}

std::uint64_t status_number(const std::string& status, const std::string& field) {
  const std::size_t at = status.find("\n" + field + ":");
  if (at == std::string::npos) return 0;
  return std::strtoull(status.c_str() + at + field.size() + 2, nullptr, 10);
}

std::uint64_t status_bytes(const std::string& status, const std::string& field) {
  return status_number(status, field) * 1'024;
}

template <class Visit>
void each_task(pid_t pid, Visit visit) {
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    visit(task.path());
  }
}

template <class Visit>
void each_marked(const std::string& mark, Visit visit) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string environment = contents(entry.path() / "environ");
    if (variable(environment, "PIRACEMA_TEST_JOB") == mark) visit(pid, environment);
  }
}

}  // namespace

std::vector<Worker> workers_of(const std::string& mark) {
  std::vector<Worker> workers;
  each_marked(mark, [&](pid_t pid, const std::string& environment) {
    const auto slot = variable(environment, "PIRACEMA_SLOT");
    const auto incarnation = variable(environment, "PIRACEMA_INCARNATION");
    if (!slot || !incarnation) return;
    workers.push_back({pid, std::stoi(*slot), std::stoi(*incarnation)});
  });
  std::sort(workers.begin(), workers.end(), [](const Worker& a, const Worker& b) {
    return std::tie(a.slot, a.incarnation) < std::tie(b.slot, b.incarnation);
  });
  return workers;
}

std::vector<pid_t> processes_of(const std::string& mark) {
  std::vector<pid_t> pids;
  each_marked(mark, [&](pid_t pid, const std::string&) { pids.push_back(pid); });
  return pids;
}

std::chrono::nanoseconds cpu_time(pid_t pid) {
  std::chrono::nanoseconds sum{};
  each_task(pid, [&](const std::filesystem::path& task) {
    sum += std::chrono::nanoseconds(std::atoll(contents(task / "schedstat").c_str()));
  });
  return sum;
}

std::uint64_t wakings(pid_t pid) {
  std::uint64_t sum = 0;
  each_task(pid, [&](const std::filesystem::path& task) {
    sum += status_number(contents(task / "status"), "voluntary_ctxt_switches");
  });
  return sum;
}

Memory memory(pid_t pid) {
  const std::string status = contents("/proc/" + std::to_string(pid) + "/status");
  return {status_bytes(status, "RssAnon"), status_bytes(status, "VmRSS")};
}

Fd pidfd_of(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

}  // namespace piracema::testing
