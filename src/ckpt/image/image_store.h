#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ckpt/image/manifest.h"
#include "store/disk/disk.h"

namespace piracema::ckpt {

/// The places where images lie: a disk for the manifests, and one for each image's parts.
class ImagePlaces {
 public:
  virtual ~ImagePlaces() = default;
  virtual store::Disk& manifests() = 0;
  /// Made if need be. Errc::io.
  virtual Result<std::unique_ptr<store::Disk>> parts(ImageId image) = 0;
  /// Images that have a place for parts, complete or not. Errc::io.
  virtual Result<std::vector<ImageId>> with_parts() = 0;
  /// The parts and their place are gone; no error if there are none. Errc::io.
  virtual Result<Done> remove_parts(ImageId image) = 0;
  /// How many threads may read from a place for parts at once, each a file of its own.
  virtual std::size_t readers() const { return 1; }
};

/// The images of one job. One that is complete stays so until it is dropped, and the newest good
/// one is never dropped; whatever happens, at any moment. One thread at a time; the directory is
/// locked by whoever made this.
class ImageStore {
 public:
  explicit ImageStore(ImagePlaces& places) : places_(places) {}

  /// A number that no image has or had, and an empty place for its parts, as far as one can be
  /// emptied; `least` at least. Errc::io.
  Result<ImageId> begin(ImageId least = 1);

  /// All parts are there, written by whomever: makes them durable, notes their checksums, and then
  /// makes the image complete by its manifest. After an error it is not complete. Errc::io.
  Result<Manifest> commit(ImageId image, std::uint64_t job, std::uint64_t created);

  /// Where several hosts save at once, each into a directory "K" of the image's place (K from 1
  /// on): what is there is made durable and listed in its `parts_name`. Any host. Errc::io.
  static Result<Done> seal_host(store::Disk& parts, ImageId image, std::uint64_t job);
  /// `commit` when all hosts, 1 to `hosts`, have sealed: by their lists. Errc::corrupt for one that
  /// is not of this image.
  Result<Manifest> commit_hosts(ImageId image, std::uint64_t job, std::uint64_t created,
                                std::size_t hosts);
  /// The parts of an image that is complete elsewhere are here, as its manifest says and durable.
  Result<Manifest> adopt(const Manifest& manifest) { return publish(manifest); }
  /// Of a host's part.
  Result<Record> record_of_host(const Manifest& manifest, std::size_t host);

  /// Complete images by number, oldest first: each as its manifest says, or what is wrong with
  /// that. Errc::io.
  struct Listed {
    ImageId image;
    Result<Manifest> manifest;
  };
  Result<std::vector<Listed>> list();

  /// Reads every byte. Errc::corrupt naming the first part that is not what the manifest says.
  Result<Done> verify(const Manifest& manifest);
  Result<Record> record(const Manifest& manifest);

  /// Drops all but the newest `keep` (at least 1) of the images whose manifest is good, and what
  /// was begun and never completed. An image that is not good, or is doubted (image_choice.h), goes
  /// only when a good one is newer.
  Result<Done> prune(std::size_t keep, const std::vector<ImageId>& doubted = {});
  /// The parts of an image that `begin` gave and that was not completed; one that was stays.
  Result<Done> drop_unfinished(ImageId image);
  /// One that another has replaced.
  Result<Done> drop(ImageId image);
  /// Everything, as for a new job.
  Result<Done> clear();

  static std::string manifest_name(ImageId image);
  static constexpr const char* record_name = "record.json";
  static constexpr const char* parts_name = "parts.json";

 private:
  Result<std::vector<ImageId>> numbers();
  Result<Manifest> publish(Manifest manifest);
  Result<Record> read_record(const Manifest& manifest, const std::string& name);

  ImagePlaces& places_;
};

/// Those whose manifest is good, oldest first.
std::vector<ImageId> good_images(const std::vector<ImageStore::Listed>& all);

/// The newest of those; 0 if there is none. Errc::io.
Result<ImageId> newest_image(ImageStore& store);

/// Which images `prune` drops, from those that have a manifest, oldest first. Pure.
std::vector<ImageId> images_to_drop(const std::vector<std::pair<ImageId, bool>>& good_by_image,
                                    std::size_t keep);

}  // namespace piracema::ckpt
