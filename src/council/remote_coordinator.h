#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/driver/driver.h"
#include "council/seats.h"
#include "host/host_call.h"
#include "loop/poller.h"

namespace piracema::council {

/// Brings a coordinator to another host, by the remote shell of the job, in a process of its own
/// that the command, or another coordinator, has started: hands on what the two say until that has
/// its seat, and the signals that the command hands on, and then writes what it writes, so that
/// this is read where the command was typed, also when whoever has started it is lost. Belongs to
/// one thread.
class RemoteCoordinator {
 public:
  /// `words` is the command line of `job`. Errc::config when something of ours is missing.
  static Result<std::unique_ptr<RemoteCoordinator>> bring(Bringer bringer,
                                                          const std::vector<std::string>& words,
                                                          const cluster::JobOptions& job);
  ~RemoteCoordinator();

  /// Until it has ended, or cannot be heard any more.
  void run();

 private:
  explicit RemoteCoordinator(Bringer bringer) : bringer_(std::move(bringer)) {}
  void said_by_command();
  void printed(std::string_view text);
  void take_end();
  void ended(const std::string& how);

  const Bringer bringer_;
  net::Poller poller_;
  std::unique_ptr<cluster::HostCall> call_;
  /// Of what was printed, what does not end a line.
  std::string rest_;
  /// It has said where it is; it was told where all are.
  bool is_there_ = false, has_seat_ = false;
  bool over_ = false;
};

}  // namespace piracema::council
