#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/fd.h"
#include "jobs/protocol/job.h"
#include "loop/poller.h"

namespace piracema::jobs {

/// What a process of a job says to its node: it wants this run on a node of the job.
struct PartRequest {
  JobId job = 0;
  std::uint32_t attempt = 0;
  std::string node;
  std::vector<std::string> command;
  /// What it reads first.
  std::string input;
  auto fields() { return std::tie(job, attempt, node, command, input); }
};

/// Where processes of jobs ask their node for parts: a local socket in the node's directory.
/// Whoever closes its end does not want the part any more. Belongs to the poller's thread.
class PartDoor {
 public:
  struct Events {
    /// Whether that user of the machine is heard at all.
    std::function<bool(uid_t user)> knows;
    /// The number is drawn from those of parts (first_beside).
    std::function<void(std::uint32_t number, uid_t user, PartRequest request)> asked;
    std::function<void(std::uint32_t number)> dropped;
  };

  /// Takes the place of a socket that another process has left there. With `for_others`, other
  /// users than this process's reach it. Errc::io.
  static Result<std::unique_ptr<PartDoor>> open(net::Poller& poller, const std::string& path,
                                                bool for_others, Events events);
  ~PartDoor();

  /// The part has ended; whoever has asked for it is told, if he is there.
  void answer(std::uint32_t number, const Ended& ended);

 private:
  PartDoor(net::Poller& poller, Fd listener, Events events);
  void accept();
  void hear(std::uint32_t number);
  void drop(std::uint32_t number);

  struct Caller {
    Fd socket;
    uid_t user = 0;
    bool has_asked = false;
  };
  net::Poller& poller_;
  const Fd listener_;
  const Events events_;
  std::map<std::uint32_t, Caller> callers_;
};

/// Asks the node whose door is at `path`. The part is wanted while the descriptor is open; it can
/// be read once the part has ended. Errc::io.
Result<Fd> ask_for_part(const std::string& path, const PartRequest& request);
/// Waits for the end of the part. Errc::lost if the node is gone, Errc::corrupt.
Result<Ended> wait_for_part(const Fd& asked);

}  // namespace piracema::jobs
