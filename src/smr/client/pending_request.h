#pragma once

#include <piracema/bytes.h>

#include <chrono>
#include <memory>

#include "base/clock.h"
#include "smr/client/client_events.h"
#include "smr/client/tally.h"
#include "smr/request.h"

namespace piracema::smr::client {

/// When what was not answered is sent again.
struct Retry {
  /// A request without an answer for so long is sent to all replicas, again after twice as long …
  std::chrono::milliseconds first{500}, longest{4'000};
  /// A read that replicas do not agree on for so long is ordered.
  std::chrono::milliseconds read{250};
};

/// A request that was asked for and not answered.
struct PendingRequest {
  /// 0: nobody waits for the answer, or does no longer.
  Ticket ticket = 0;
  Request request;
  /// As it is sent, each time the same until the view changes.
  std::shared_ptr<const Buffer> message;
  Time deadline{}, next_try{};
  std::chrono::milliseconds pause{};
  Tally tally;
};
using PendingPtr = std::unique_ptr<PendingRequest>;

}  // namespace piracema::smr::client
