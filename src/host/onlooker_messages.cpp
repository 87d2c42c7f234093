#include "host/onlooker_messages.h"

#include "wire/messages.h"

namespace piracema::cluster {

namespace {
// Apart from those of workers and agents, who come by the same door.
constexpr std::uint8_t first_of_onlooker = 200;
}  // namespace

wire::Frame to_frame(const FromOnlooker& message) {
  return wire::message_to_frame(message, first_of_onlooker);
}
wire::Frame to_frame(const ToOnlooker& message) {
  return wire::message_to_frame(message, first_of_onlooker);
}

Result<FromOnlooker> from_onlooker(const wire::Frame& frame) {
  return wire::message_from_frame<FromOnlooker>(frame, "onlooker's frame", first_of_onlooker);
}
Result<ToOnlooker> to_onlooker(const wire::Frame& frame) {
  return wire::message_from_frame<ToOnlooker>(frame, "frame to an onlooker", first_of_onlooker);
}

}  // namespace piracema::cluster
