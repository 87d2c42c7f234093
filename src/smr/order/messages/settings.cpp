#include "smr/order/messages/settings.h"

#include "base/text.h"

namespace piracema::smr {

Result<Settings> validate(Settings settings) {
  const auto wrong = [](std::string what) { return Error{Errc::config, std::move(what)}; };
  if (settings.window == 0 || settings.window > view_delay) {
    return wrong(concat("window: want 1 to ", view_delay, ", found ", settings.window));
  }
  if (settings.batch_requests == 0) return wrong("batch_requests: want at least 1, found 0");
  if (settings.operation_bytes > settings.batch_bytes * 64) {
    return wrong("operation_bytes: want at most 64 times batch_bytes");
  }
  if (settings.checkpoint_interval < view_delay) {
    return wrong(concat("checkpoint_interval: want at least ", view_delay, ", found ",
                        settings.checkpoint_interval));
  }
  if (settings.backlog < view_delay) {
    return wrong(concat("backlog: want at least ", view_delay, ", found ", settings.backlog));
  }
  const milliseconds none{0};
  if (settings.request_timeout <= none || settings.heartbeat_interval <= none ||
      settings.sync_timeout <= none || settings.resend_interval <= none) {
    return wrong("times: want more than 0 ms");
  }
  if (settings.silence_timeout < 2 * settings.heartbeat_interval) {
    return wrong("silence_timeout: want at least two heartbeat intervals");
  }
  if (settings.client_requests == 0 || settings.pool_requests < settings.client_requests) {
    return wrong("client_requests: want 1 to pool_requests");
  }
  if (settings.client_bytes < settings.operation_bytes) {
    return wrong("client_bytes: want at least operation_bytes");
  }
  return settings;
}

}  // namespace piracema::smr
