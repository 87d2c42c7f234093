#include "host/agent_messages.h"

#include "wire/messages.h"

namespace piracema::cluster {

namespace {
// Apart from those of workers, who come by the same door.
constexpr std::uint8_t first_kind = 100;
}  // namespace

wire::Frame to_frame(const FromAgent& message) {
  return wire::message_to_frame(message, first_kind);
}
wire::Frame to_frame(const ToAgent& message) { return wire::message_to_frame(message, first_kind); }

Result<FromAgent> from_agent(const wire::Frame& frame) {
  return wire::message_from_frame<FromAgent>(frame, "agent's frame", first_kind);
}
Result<ToAgent> to_agent(const wire::Frame& frame) {
  return wire::message_from_frame<ToAgent>(frame, "frame to an agent", first_kind);
}

}  // namespace piracema::cluster
