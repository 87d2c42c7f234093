#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "ckpt/image/image_store.h"

namespace piracema::ckpt {

/// What a job is, from its begin to its end.
struct JobFile {
  /// Drawn at the begin, so that another job's image is told apart.
  std::uint64_t id = 0;
  std::vector<std::string> command;
  std::string working_directory;
  /// The name that its hosts have for it, wherever it runs.
  std::string host_name;
  /// Standard output and error went to one file when it began.
  bool one_output = false;
  /// Where it ran last, if not on one host alone; how many there are stays.
  std::vector<std::string> hosts;
  /// Its exit status, once it has ended.
  std::optional<int> ended;
  /// Images that are passed by: image_choice.h.
  std::vector<ImageId> doubted;
  /// Where its images lie first (local_images.h), and the mark of the place whose images are of its
  /// past; both empty: in its own directory.
  std::string local, local_mark;
  /// Where a copy of what lies there alone is kept: "HOST:DIR" (partner_images.h); empty: nowhere.
  std::string partner;
};

/// The directory of a job: docs/formats/checkpoint_image.md. Locked for this process alone.
class JobDirectory final : public ImagePlaces {
 public:
  /// If another process has it.
  enum class IfInUse {
    refuse,  ///< Errc::refused.
    wait,    ///< No matter how long.
  };
  /// Makes it if need be. Errc::config if it holds anything else or lies in /dev/shm, which a job
  /// in a capsule cannot see; Errc::io.
  static Result<std::unique_ptr<JobDirectory>> open(const std::string& path,
                                                    IfInUse in_use = IfInUse::refuse);
  /// For those that look only: no lock, nothing is made. Errc::config if it is none.
  static Result<std::unique_ptr<JobDirectory>> look(const std::string& path);

  /// Absolute.
  const std::string& path() const { return path_; }
  std::string stdout_path() const { return path_ + "/stdout"; }
  std::string stderr_path() const { return path_ + "/stderr"; }
  std::string socket_path() const { return path_ + "/control"; }
  /// Where helpers write what they do; made.
  std::string log_path() const { return path_ + "/log"; }
  std::string parts_path(ImageId image) const;
  std::string manifest_path(ImageId image) const;

  /// Errc::not_found before the first `write`.
  Result<JobFile> read() const;
  Result<Done> write(const JobFile& job);

  /// An image that comes from elsewhere is copied here, and is nothing before `adopt`; empty.
  /// Errc::io.
  Result<std::string> make_copy_place(ImageId image);
  /// The copy's parts become those of the image, of which there are none; its manifest comes then.
  /// Errc::io.
  Result<Done> adopt_parts(ImageId image);
  /// Copies that came to nothing, all of them. Errc::io.
  Result<Done> remove_copies();

  store::Disk& manifests() override { return *images_; }
  Result<std::unique_ptr<store::Disk>> parts(ImageId image) override;
  Result<std::vector<ImageId>> with_parts() override;
  Result<Done> remove_parts(ImageId image) override;
  /// As many as there are cores, up to 8.
  std::size_t readers() const override;

 private:
  JobDirectory(std::string path, Fd lock);
  std::string copy_path(ImageId image) const;

  std::string path_;
  Fd lock_;
  std::unique_ptr<store::Disk> images_;
};

}  // namespace piracema::ckpt
