#include "ckpt/image/local_images.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"

namespace piracema::ckpt {

namespace {

using List = std::vector<ImageId>;
using std::chrono::seconds;

ImageId make_image(LocalImages& local, std::uint64_t job) {
  const auto image = local.images().begin();
  REQUIRE(image.ok());
  std::ofstream(local.directory().parts_path(*image) + "/inventory.img") << "x";
  REQUIRE(local.images().commit(*image, job, 1).ok());
  return *image;
}

/// What a keeper does before its job runs.
std::unique_ptr<LocalImages> begin(const std::string& directory, JobFile& job) {
  const JobFile before = job;
  auto local = LocalImages::open(directory, before, job);
  REQUIRE(local.ok());
  return *std::move(local);
}

}  // namespace

TEST_CASE("the newest image is copied, unless the store has one that is as new") {
  CHECK(image_to_copy({}, 0) == std::nullopt);
  CHECK(image_to_copy({4, 5}, 3) == 5);
  CHECK(image_to_copy({4, 5}, 5) == std::nullopt);
  CHECK(image_to_copy({4, 5}, 6) == std::nullopt);
}

TEST_CASE("the newest image stays on the node, and those that are being copied") {
  CHECK(local_images_to_drop({}, {}) == List{});
  CHECK(local_images_to_drop({5}, {}) == List{});
  CHECK(local_images_to_drop({3, 4, 5}, {}) == List{3, 4});
  CHECK(local_images_to_drop({3, 4, 5}, {3}) == List{4});
  CHECK(local_images_to_drop({3, 4, 5}, {5}) == List{3, 4});
  CHECK(local_images_to_drop({3, 4, 5}, {3, 4}) == List{});
}

TEST_CASE("an image that ends the job goes to the store, unless its window would be missed") {
  CHECK(is_saved_locally(false, std::nullopt, {}));
  CHECK(is_saved_locally(false, seconds(1), seconds(8)));
  CHECK_FALSE(is_saved_locally(true, std::nullopt, seconds(8)));
  CHECK_FALSE(is_saved_locally(true, seconds(8), seconds(8)));
  CHECK_FALSE(is_saved_locally(true, seconds(7), seconds(8)));
  CHECK(is_saved_locally(true, seconds(5), seconds(8)));
}

TEST_CASE("a keeper finds the images that one before has left on this node") {
  const testing::ScratchDirectory scratch;
  JobFile job{.id = 7};
  const ImageId image = make_image(*begin(scratch.path(), job), job.id);
  CHECK(look_at_local_images(job).size() == 1);
  const auto again = begin(scratch.path(), job);
  REQUIRE(again->whole().size() == 1);
  CHECK(again->whole().front().image == image);
  again->remove();
  CHECK(look_at_local_images(job).empty());
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("images of a node are dropped when the job has gone on elsewhere since") {
  const testing::ScratchDirectory here, there;
  JobFile job{.id = 7};
  make_image(*begin(here.path(), job), job.id);
  // The name is the same on each node, and the disk another.
  JobFile moved = job;
  SUBCASE("with a disk of that node") {
    moved.local = here.path();
    begin(there.path(), moved);
    moved.local = here.path();
  }
  SUBCASE("without one") { moved.local_mark.clear(); }
  CHECK(look_at_local_images(moved).empty());
  CHECK(begin(here.path(), moved)->whole().empty());
  CHECK(look_at_local_images(job).empty());
}

TEST_CASE("images of another job are none of ours") {
  const testing::ScratchDirectory scratch;
  JobFile job{.id = 7}, other{.id = 8};
  make_image(*begin(scratch.path(), job), job.id);
  CHECK(begin(scratch.path(), other)->whole().empty());
  CHECK(look_at_local_images(job).size() == 1);
  make_image(*begin(scratch.path(), job), other.id);
  CHECK(look_at_local_images(job).size() == 1);
}

}  // namespace piracema::ckpt
