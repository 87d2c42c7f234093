#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
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
  /// From what is in the job's files now; `one`: both go to one file; `elsewhere`: another host
  /// writes them. Errc::io. `on_room` is told when the job's files have no room left for what it
  /// writes next, and when they have it again.
  using OnRoom = std::function<void(bool enough)>;
  static Result<std::unique_ptr<JobOutput>> open(net::Poller& poller, const JobDirectory& directory,
                                                 bool one, bool elsewhere, OnRoom on_room);
  ~JobOutput();

  /// What is there now. False if not all could be passed on: it is tried again by itself.
  bool drain();
  /// Whether the job may write on.
  bool has_room();
  /// The job runs no more: nothing is kept for what it writes.
  void give_room_back();
  /// The files were cut to what they hold now, or to nothing, as the job goes on from before: what
  /// follows is new. Gives the bytes that are taken back by that: they have been passed on.
  std::uint64_t cut();
  /// Likewise one of both, to so many bytes; any other file is none of ours.
  std::uint64_t cut(const std::string& path, std::uint64_t bytes);

 private:
  JobOutput(net::Poller& poller, const JobDirectory& directory, OnRoom on_room)
      : poller_(poller), directory_(directory), on_room_(std::move(on_room)) {}
  void watch(OutputTail& tail);
  bool pass_on(OutputTail& tail);
  void try_again();
  void look_again();

  net::Poller& poller_;
  const JobDirectory& directory_;
  const OnRoom on_room_;
  std::optional<OutputTail> output_, error_;
  std::optional<net::Poller::Timer> again_, look_;
  bool had_room_ = true, said_full_ = false;
};

}  // namespace piracema::ckpt
