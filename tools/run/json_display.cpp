#include "tools/run/json_display.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/hint.h"
#include "host/own_host.h"
#include "tools/run/report_json.h"

namespace piracema::tools {

using cluster::own_host;

namespace {

void print(const nlohmann::ordered_json& value) {
  std::fputs(line_of(value).c_str(), stdout);
  std::fflush(stdout);  // Whoever reads acts on it now.
}

}  // namespace

void JsonDisplay::standing_by(const std::string& why) {
  print({{"event", "standing_by"}, {"why", split_hint(why).message}});
}

void JsonDisplay::leads(std::uint32_t number, std::uint32_t of, bool taken_over) {
  print({{"event", "leads"},
         {"coordinator", number},
         {"of", of},
         {"host", own_host()},
         {"pid", ::getpid()},
         {"taken_over", taken_over}});
}

void JsonDisplay::follows(std::uint32_t number, std::uint32_t of) {
  print({{"event", "follows"},
         {"coordinator", number},
         {"of", of},
         {"host", own_host()},
         {"pid", ::getpid()}});
}

void JsonDisplay::planned(const cluster::Job& job, const cluster::JobReport&) {
  nlohmann::ordered_json replicas = nlohmann::ordered_json::array();
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    replicas.push_back({{"name", job.name(replica)}, {"worker", job.placement[replica]}});
  }
  print({{"event", "planned"}, {"replicas", std::move(replicas)}});
}

void JsonDisplay::noted(Time at, const cluster::Note& note) { print(to_json(at, note)); }

void JsonDisplay::killed(Time at, const cluster::KillReport& kill, const std::string& replica) {
  print({{"event", "killed"}, {"worker", kill.slot}, {"replica", replica}, {"at", seconds(at)}});
}

void JsonDisplay::stopping(Time at) { print({{"event", "stopping"}, {"at", seconds(at)}}); }

}  // namespace piracema::tools
