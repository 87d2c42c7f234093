#include "ckpt/image/image_store.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/random.h"
#include "store/disk/memory_disk.h"

namespace piracema::ckpt {

namespace {

/// Disks that outlive the process that uses them, and may all stop or crash at one time.
class SimulatedPlaces final : public ImagePlaces {
 public:
  explicit SimulatedPlaces(std::uint64_t seed) : random_(seed), manifests_(random_.next()) {}

  store::Disk& manifests() override { return manifests_; }
  Result<std::unique_ptr<store::Disk>> parts(ImageId image) override {
    auto& disk = parts_[image];
    if (!disk) disk = std::make_unique<store::MemoryDisk>(random_.next());
    return std::unique_ptr<store::Disk>(std::make_unique<Window>(*disk));
  }
  Result<std::vector<ImageId>> with_parts() override {
    std::vector<ImageId> all;
    for (const auto& [image, disk] : parts_) all.push_back(image);
    return all;
  }
  Result<Done> remove_parts(ImageId image) override {
    parts_.erase(image);
    return Done{};
  }

  void crash() {
    manifests_.crash();
    for (auto& [image, disk] : parts_) disk->crash();
  }
  store::MemoryDisk& manifest_disk() { return manifests_; }
  store::MemoryDisk& disk(ImageId image) { return *parts_[image]; }

  /// As criu writes: nothing is synced. False if the process was ended before it was done.
  bool write_parts(ImageId image, std::size_t count, bool whole) {
    auto disk = parts(image);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = concat_text(image, i);
      auto file = (*disk)->create(concat_name(i), text.size());
      if (!file || !whole) return false;
      if (auto done = (*file)->write(0, as_bytes(text)); !done) return false;
    }
    return true;
  }
  static std::string concat_name(std::size_t i) { return "part-" + std::to_string(i); }
  static std::string concat_text(ImageId image, std::size_t i) {
    std::string text;
    for (int k = 0; k < 300; ++k) text += std::to_string(image) + "/" + std::to_string(i) + " ";
    return text;
  }
  Random& random() { return random_; }

 private:
  /// A disk of the store's own that leads to one that stays.
  class Window final : public store::Disk {
   public:
    explicit Window(store::MemoryDisk& disk) : disk_(disk) {}
    Result<std::vector<std::string>> list() override { return disk_.list(); }
    Result<std::unique_ptr<store::DiskFile>> create(const std::string& n,
                                                    std::uint64_t b) override {
      return disk_.create(n, b);
    }
    Result<std::unique_ptr<store::DiskFile>> open(const std::string& n) override {
      return disk_.open(n);
    }
    Result<Done> replace(const std::string& n, std::span<const Bytes> p) override {
      return disk_.replace(n, p);
    }
    Result<Done> remove(const std::string& n) override { return disk_.remove(n); }
    Result<Done> sync_names() override { return disk_.sync_names(); }

   private:
    store::MemoryDisk& disk_;
  };

  Random random_;
  store::MemoryDisk manifests_;
  std::map<ImageId, std::unique_ptr<store::MemoryDisk>> parts_;
};

std::vector<ImageId> numbers_of(ImageStore& images) {
  std::vector<ImageId> numbers;
  const auto all = images.list();
  for (const auto& one : *all) numbers.push_back(one.image);
  return numbers;
}

ImageId newest_good(ImageStore& images) {
  const auto all = images.list();
  if (!all) return 0;
  for (auto one = all->rbegin(); one != all->rend(); ++one) {
    if (one->manifest && images.verify(*one->manifest)) return one->image;
  }
  return 0;
}

ImageId make_image(SimulatedPlaces& places, ImageStore& images) {
  const auto image = images.begin();
  if (!image || !places.write_parts(*image, 3, true)) return 0;
  return images.commit(*image, 1, 0) ? *image : 0;
}

}  // namespace

TEST_CASE("the newest are kept, and what is damaged goes only when a good one is newer") {
  using List = std::vector<ImageId>;
  CHECK(images_to_drop({}, 1) == List{});
  CHECK(images_to_drop({{1, true}, {2, true}, {3, true}}, 2) == List{1});
  CHECK(images_to_drop({{1, true}, {2, false}}, 1) == List{});
  CHECK(images_to_drop({{1, true}, {2, false}, {3, true}}, 1) == List{1, 2});
  CHECK(images_to_drop({{1, false}, {2, false}}, 1) == List{});
}

TEST_CASE("an image from which the job has failed goes before one from which it has not") {
  SimulatedPlaces places(1);
  ImageStore images(places);
  for (int i = 0; i < 3; ++i) CHECK(make_image(places, images) != 0);
  CHECK(images.prune(2, {3}).ok());
  CHECK(numbers_of(images) == std::vector<ImageId>{1, 2, 3});
  CHECK(make_image(places, images) == 4);
  CHECK(images.prune(2, {3}).ok());
  CHECK(numbers_of(images) == std::vector<ImageId>{2, 4});
}

TEST_CASE("an image is there once its manifest is, and numbers are not used twice") {
  SimulatedPlaces places(1);
  ImageStore images(places);
  CHECK(*images.begin() == 1);
  CHECK(images.list()->empty());
  CHECK(make_image(places, images) == 2);
  CHECK(newest_good(images) == 2);
  CHECK(*images.begin() == 3);
}

TEST_CASE("whatever a crash leaves of a rotation, the last image that was complete is good") {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    CAPTURE(seed);
    SimulatedPlaces places(seed);
    ImageStore images(places);
    ImageId promised = 0;
    for (int turn = 0; turn < 6; ++turn) {
      // The process ends at a call that is drawn; the machine with it, or not.
      places.manifest_disk().stop_after(places.random().below(9));
      const auto image = images.begin();
      if (image) {
        if (places.random().chance(0.5)) places.disk(*image).stop_after(places.random().below(20));
        const bool whole = places.random().chance(0.9);
        if (places.write_parts(*image, 3, whole) && images.commit(*image, 1, 0)) promised = *image;
        (void)images.prune(1 + places.random().below(2));
      }
      places.crash();
      CHECK(newest_good(images) >= promised);
    }
  }
}

TEST_CASE("an image that is damaged is told, and which part of it") {
  SimulatedPlaces places(5);
  ImageStore images(places);
  CHECK(make_image(places, images) == 1);
  REQUIRE(places.disk(1).rot("part-1", 40, 1));
  const auto all = images.list();
  const auto verified = images.verify(*all->front().manifest);
  REQUIRE_FALSE(verified.ok());
  CHECK(verified.error().code == Errc::corrupt);
  CHECK(verified.error().message.find("part-1") != std::string::npos);
}

TEST_CASE("no room for an image leaves the one before") {
  SimulatedPlaces places(6);
  ImageStore images(places);
  CHECK(make_image(places, images) == 1);
  const auto image = images.begin();
  REQUIRE(image.ok());
  REQUIRE(places.parts(*image).ok());
  places.disk(*image).set_capacity(100);
  CHECK_FALSE(places.write_parts(*image, 3, true));
  CHECK(newest_good(images) == 1);
}

}  // namespace piracema::ckpt
