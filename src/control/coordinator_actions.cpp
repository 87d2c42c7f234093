#include "control/coordinator_actions.h"

#include <chrono>

#include "base/text.h"

namespace piracema::cluster {

std::string text_of(const ReplicaBusy& busy) {
  const std::chrono::duration<double> since = busy.since;
  return concat(busy.name, " has been busy", busy.item ? concat(" with item ", *busy.item) : "",
                " for ", human_seconds(since.count()));
}

}  // namespace piracema::cluster
