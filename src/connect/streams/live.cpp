#include "connect/streams/live.h"

#include <stdexcept>

#include "base/log.h"
#include "base/text.h"

namespace piracema::detail {

void check_live(const std::string& name, const Context& context, const LiveOptions& options,
                bool again) {
  if (context.replicas != 1) {
    throw std::runtime_error(concat(name, ": want one replica of '", context.node, "', found ",
                                    context.replicas, ": they would share nothing out"));
  }
  if (options.item_bytes_max == 0) {
    throw std::runtime_error(concat(name, ": want items of at least 1 byte, found a limit of 0"));
  }
  if (!again || !options.journal.empty()) return;
  const char* lost = ": what was read since the snapshot cannot be read again";
  if (!options.may_lose) {
    throw std::runtime_error(
        concat(name, lost, "; with a journal (LiveOptions) it could, or let it be lost (may_lose)"));
  }
  log(Level::warning, concat(name, lost, ", and is lost"));
}

}  // namespace piracema::detail
