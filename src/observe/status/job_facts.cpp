#include "observe/status/job_facts.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
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

}  // namespace

JobFacts facts_of_this_process() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  JobFacts facts;
  facts.version = PIRACEMA_VERSION;
  facts.cores = cores();
  facts.started_at = std::chrono::duration<double>(now).count();
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
