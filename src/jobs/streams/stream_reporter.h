#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "jobs/local/job_files.h"
#include "jobs/protocol/operations.h"
#include "jobs/streams/stream_glance.h"
#include "jobs/streams/stream_watch.h"
#include "loop/poller.h"

namespace piracema::jobs {

/// Looks at the streams among the jobs of a node, each at its own page on loopback, and tells the
/// control plane what they say of themselves: does what StreamWatch wants. Belongs to the poller's
/// thread.
class StreamReporter {
 public:
  struct Node {
    std::string name;
    /// Of its process: by it the control plane knows who tells.
    std::uint64_t incarnation = 0;
  };
  /// Asks the control plane without an order; calls back on any thread, and not at all once this is
  /// gone.
  using Ask = std::function<void(const TellStreams&, std::function<void(Result<Answer>)>)>;

  StreamReporter(net::Poller& poller, const JobFiles& files, Node node, Ask ask);
  ~StreamReporter();
  StreamReporter(const StreamReporter&) = delete;
  StreamReporter& operator=(const StreamReporter&) = delete;

  /// The command of a job runs here as that user of the machine, or does not any more.
  void began(const Attempt& attempt, uid_t user);
  void ended(const Attempt& attempt);

 private:
  struct Stream {
    uid_t user = 0;
    std::unique_ptr<StreamGlance> glance;
  };

  void step(const StreamWatch::Event& event);
  void wake_in_time();
  void act(const StreamWatch::Look& look);
  void act(const StreamWatch::Tell& tell);
  void seen(const Attempt& attempt, Result<std::string> body);

  net::Poller& poller_;
  const JobFiles& files_;
  const Node node_;
  const Ask ask_;
  StreamWatch watch_;
  std::map<Attempt, Stream> streams_;
  std::optional<net::Poller::Timer> timer_;
  /// For answers that come late.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace piracema::jobs
