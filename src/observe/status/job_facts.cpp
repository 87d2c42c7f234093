#include "observe/status/job_facts.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace piracema::observe {

namespace {

constexpr std::streamsize command_bytes_max = 64 << 10;

unsigned cores() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string own_host() {
  if (const char* node = std::getenv("PIRACEMA_NODE")) return node;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

CoordinatorFacts coordinator_from_now_on() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.host = own_host(),
          .pid = static_cast<std::uint64_t>(::getpid()),
          .since = std::chrono::duration<double>(now).count()};
}

JobFacts facts_of_this_process() {
  JobFacts facts;
  facts.version = PIRACEMA_VERSION;
  facts.cores = cores();
  facts.coordinator = coordinator_from_now_on();
  facts.started_at = facts.coordinator.since;
  return facts;
}

std::vector<std::string> command_of_this_process() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string text(command_bytes_max, '\0');
  in.read(text.data(), command_bytes_max);
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace piracema::observe
