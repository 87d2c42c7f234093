#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "jobs/streams/stream_address.h"
#include "loop/poller.h"

namespace piracema::jobs {

/// One look at a stream of this machine: what it answers to GET /api/v1/job. Whatever it does, the
/// look ends after two seconds and 256 KiB, and nobody waits for it. Belongs to the poller's
/// thread.
class StreamGlance {
 public:
  static constexpr Time time_max = std::chrono::seconds(2);
  static constexpr std::size_t bytes_max = std::size_t{256} << 10;

  /// The body of its answer. Errc::timeout; Errc::lost if nobody is there, or it hangs up;
  /// Errc::refused for another code than 200, Errc::corrupt for what is no HTTP, or too much.
  using Done = std::function<void(Result<std::string>)>;

  /// Calls `done` once and later, never from within; it may destroy the glance.
  StreamGlance(net::Poller& poller, const StreamAddress& address, Done done);
  /// Gives up, without a call.
  ~StreamGlance();
  StreamGlance(const StreamGlance&) = delete;
  StreamGlance& operator=(const StreamGlance&) = delete;

 private:
  void send();
  void read();
  void end(Result<std::string> body);

  net::Poller& poller_;
  Done done_;
  Fd socket_;
  std::string request_, answer_;
  std::optional<net::Poller::Timer> timer_;
};

/// The body of an answer that is whole, and whose end is that of its connection.
Result<std::string> body_of_answer(std::string answer);

}  // namespace piracema::jobs
