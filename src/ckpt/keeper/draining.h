#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ckpt/image/local_images.h"
#include "ckpt/keeper/copy_process.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Copies images of a job from a disk of this node to the store, one at a time, by a process of its
/// own that ends with this one. An image is in the store once its copy is whole, and not before.
/// Belongs to the poller's thread.
class Draining {
 public:
  struct Calls {
    /// Makes room for so many bytes in the store. Errc::failed if there is none.
    std::function<Result<Done>(std::uint64_t bytes)> find_room;
    /// An image is in the store now.
    std::function<void(ImageId image, Time took)> drained;
    /// Of this node: one that somebody else reads.
    std::function<std::optional<ImageId>()> in_use_elsewhere;
  };
  /// `program` is this program's file. What an earlier keeper has begun to copy goes. All of them
  /// outlive it.
  Draining(net::Poller& poller, std::string program, LocalImages& local, JobDirectory& store,
           Calls calls);
  ~Draining() { stop(); }

  /// Begins to copy what the store lacks, and drops what is not needed any more, here and there.
  /// Whenever something has changed.
  void look();
  bool is_under_way() const { return copy_.has_value(); }
  /// Whether something lies here alone.
  std::optional<ImageId> waiting() const;
  /// The store is left to somebody else for a while; nothing is begun meanwhile.
  void pause(bool still);
  /// What is under way goes; nothing is begun before the next `look`.
  void stop();

 private:
  struct Copy {
    Manifest manifest;
    Time began{};
  };
  std::vector<ImageId> local() const;
  Result<ImageId> newest_in_store() const;
  void drop_older();
  Result<Done> begin(const Manifest& manifest);
  void ended(const Result<Done>& done);
  void failed(ImageId image, const std::string& why);
  void end_copy();

  const std::string program_;
  LocalImages& local_;
  JobDirectory& store_;
  const Calls calls_;
  std::optional<Copy> copy_;
  CopyProcess process_;
  bool is_paused_ = false;
};

/// The newest image that the store lacks is there when this returns, if there is one: for whoever
/// does not look at this node's disk again. Errc::io, Errc::corrupt.
Result<std::optional<ImageId>> bring_to_store(const JobFile& job, JobDirectory& store);

}  // namespace piracema::ckpt
