#include "cluster/memory_alarm.h"

#include <chrono>

#include "base/log.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::chrono::seconds look_every{1};

std::string advice_for(const GraphShape& shape, bool in_memory) {
  std::string names;
  for (const NodeShape& node : shape.nodes) {
    if (node.keyed) names += concat(names.empty() ? "" : ", ", node.name);
  }
  if (names.empty() || !in_memory) return "";
  return concat("; the states by key of ", names,
                " can lie on disk: stop the job, and go on with --resume --state-directory DIR");
}

}  // namespace

MemoryAlarm::MemoryAlarm(net::Poller& poller, const GraphShape& shape, bool in_memory)
    : poller_(poller), advice_(advice_for(shape, in_memory)) {}

void MemoryAlarm::watch() {
  if (const auto memory = memory_left()) {
    const auto said = watch_.look(*memory, own_memory());
    if (said) log(Level::warning, concat(*said, advice_));
  }
  poller_.at(now() + look_every, [this] { watch(); });
}

}  // namespace piracema::cluster
