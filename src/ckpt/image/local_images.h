#pragma once

#include <piracema/error.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ckpt/image/job_directory.h"

/// Images of a job on a disk of this node's own: the job stands still only until they are there,
/// and the store gets a copy while it runs.
namespace piracema::ckpt {

class LocalImages {
 public:
  /// The job's place below `directory`, made if need be. Images there that are not of the job's own
  /// past, by what the job was, go: another node has gone on with it since. `job` gets the place
  /// and its mark, and has to be written before it runs. Errors as JobDirectory::open.
  static Result<std::unique_ptr<LocalImages>> open(const std::string& directory,
                                                   const JobFile& before, JobFile& job);

  JobDirectory& directory() { return *directory_; }
  ImageStore& images() { return images_; }
  /// Its whole images of the job, oldest first; none where the place cannot be read.
  std::vector<Manifest> whole() const;
  /// All of it goes, as the job is over; what cannot be removed stays.
  void remove();

 private:
  LocalImages(std::unique_ptr<JobDirectory> directory, std::uint64_t job)
      : directory_(std::move(directory)), images_(*directory_), job_(job) {}

  std::unique_ptr<JobDirectory> directory_;
  mutable ImageStore images_;
  const std::uint64_t job_;
};

/// The images of the job among those of a place, oldest first; none where it cannot be read.
std::vector<Manifest> whole_images(ImageStore& images, std::uint64_t job);

/// The directory of the job's images on a node; there may be none.
std::string local_place(const JobFile& job);
/// The whole images of the job that lie on this node, for those that look only: none where they are
/// not of its own past.
std::vector<Manifest> look_at_local_images(const JobFile& job);

/// They go; what cannot be removed stays, and those that are not of its own past do.
void drop_local_images(const JobFile& job);

// Pure; images are numbers, oldest first.

/// Which one is copied to the store next: the newest, if the store has none as new.
std::optional<ImageId> image_to_copy(const std::vector<ImageId>& local, ImageId newest_in_store);
/// Which ones go from the node when the newest is complete: all others but those that are being
/// copied. So two whole ones lie there at most, or three with a partner, and the one that is being
/// made.
std::vector<ImageId> local_images_to_drop(const std::vector<ImageId>& local,
                                          const std::vector<ImageId>& copied);

/// Where an image is written first. One that the job survives: to the node's disk. One that it does
/// not survive: to the store, as there is nobody whom a longer write keeps waiting; unless the
/// window closes in `left`, and that is so much less than `store_takes` that it would be missed.
bool is_saved_locally(bool stops, std::optional<Time> left, Time store_takes);

}  // namespace piracema::ckpt
