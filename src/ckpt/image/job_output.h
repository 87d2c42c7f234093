#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "ckpt/image/job_directory.h"
#include "ckpt/image/output_tail.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// What a job writes, passed on to our own standard output and error as it comes. Belongs to the
/// poller's thread.
class JobOutput {
 public:
  /// From what is in the job's files now; `one`: both go to one file. Errc::io.
  static Result<std::unique_ptr<JobOutput>> open(net::Poller& poller, const JobDirectory& directory,
                                                 bool one);
  ~JobOutput();

  /// What is there now; when it is the last time, waits until it is taken.
  void drain(bool last = false);
  /// The files were cut to what they hold now, or to nothing, as the job goes on from before: what
  /// follows is new. Gives the bytes that are taken back by that: they have been passed on.
  std::uint64_t cut();
  /// Likewise one of both, to so many bytes; any other file is none of ours.
  std::uint64_t cut(const std::string& path, std::uint64_t bytes);

 private:
  JobOutput(net::Poller& poller, const JobDirectory& directory)
      : poller_(poller), directory_(directory) {}
  void watch(OutputTail& tail);
  void pass_on(OutputTail& tail, bool last);

  net::Poller& poller_;
  const JobDirectory& directory_;
  std::optional<OutputTail> output_, error_;
};

}  // namespace piracema::ckpt
