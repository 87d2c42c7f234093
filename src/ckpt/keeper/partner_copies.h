#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>

#include "ckpt/image/local_images.h"
#include "ckpt/image/partner_link.h"
#include "ckpt/keeper/copy_process.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Sends images of a job from a disk of this node to its partner's, one at a time, beside their way
/// to the store. Belongs to the poller's thread.
class PartnerCopies {
 public:
  struct Calls {
    /// The newest image that the store has.
    std::function<Result<ImageId>()> in_store;
    /// An image is with the partner as well.
    std::function<void(ImageId image, Time took)> sent;
  };
  /// `program` is this program's file. All of them outlive it.
  PartnerCopies(net::Poller& poller, std::string program, PartnerWay way, std::string host,
                LocalImages& local, Calls calls);

  /// Begins to send what the partner lacks. Whenever something has changed.
  void look();
  /// The image that is being sent.
  std::optional<ImageId> in_use() const { return image_; }
  bool has(ImageId image) const { return sent_ >= image; }
  const std::string& host() const { return host_; }
  /// What is under way goes.
  void stop();
  /// What is there goes, as the job is over; what cannot be removed soon stays.
  void remove();

 private:
  void ended(const Result<Done>& done);
  void failed(const std::string& why);

  const std::string program_;
  const PartnerWay way_;
  const std::string host_;
  LocalImages& local_;
  const Calls calls_;
  CopyProcess process_;
  std::optional<ImageId> image_;
  ImageId sent_ = 0;
  Time began_{};
};

/// `rsh`: the remote shell's words; empty: ssh. The partner finds the program in the directory of
/// the job (job_program.h), and the job has a mark by now.
PartnerWay way_to_partner(const Partner& partner, const JobFile& job, const JobDirectory& store,
                          const std::string& rsh);

/// What the job's partner has that is newer than what the store has, and than what is right on this
/// node, is in the store when this returns: the image, if there was one. Before the job goes on,
/// which voids it. A partner that cannot be reached is said, and passed by. Errc::io: it has one
/// that could not be brought.
Result<std::optional<ImageId>> bring_from_partner(const JobFile& job, JobDirectory& store,
                                                  const std::string& rsh);

}  // namespace piracema::ckpt
