#include "ckpt/image/image_copy.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "ckpt/image/job_directory.h"

namespace piracema::ckpt {

namespace {

/// An image in a directory of its own, and another job directory to copy it to.
struct Places {
  Places() {
    for (const auto& [name, place] : {std::pair{"/local", &from}, std::pair{"/store", &to}}) {
      auto opened = JobDirectory::open(scratch.path() + name);
      REQUIRE(opened.ok());
      *place = *std::move(opened);
    }
    ImageStore images(*from);
    const auto image = images.begin(7);
    REQUIRE(image.ok());
    parts = from->parts_path(*image);
    testing::overwrite(parts + "/inventory.img", "how processes are made");
    testing::overwrite(parts + "/pages-1.img",
                       std::string(5 << 20, 'a') + std::string(9 << 20, '\0') + "b");
    auto whole = images.commit(*image, 1, 2);
    REQUIRE(whole.ok());
    manifest = *std::move(whole);
  }

  testing::ScratchDirectory scratch;
  std::unique_ptr<JobDirectory> from, to;
  std::string parts;
  Manifest manifest;
};

}  // namespace

TEST_CASE("a copy is the image once its parts and its manifest are adopted, and nothing before") {
  Places places;
  CHECK(places.manifest.image == 7);
  const auto place = places.to->make_copy_place(7);
  REQUIRE(place.ok());
  REQUIRE(copy_image(places.parts, *place, places.manifest).ok());
  ImageStore store(*places.to);
  CHECK(store.list()->empty());
  REQUIRE(places.to->adopt_parts(7).ok());
  CHECK(store.list()->empty());
  REQUIRE(store.adopt(places.manifest).ok());
  const auto all = store.list();
  REQUIRE(all->size() == 1);
  CHECK(store.verify(*all->front().manifest).ok());
  CHECK(testing::contents(places.to->parts_path(7) + "/pages-1.img") ==
        testing::contents(places.parts + "/pages-1.img"));
  CHECK(*store.begin() == 8);
}

TEST_CASE("what nobody has written takes no room in the copy") {
  Places places;
  const auto place = places.to->make_copy_place(7);
  REQUIRE(copy_image(places.parts, *place, places.manifest).ok());
  struct stat status {};
  REQUIRE(::stat((*place + "/pages-1.img").c_str(), &status) == 0);
  CHECK(status.st_size == (14 << 20) + 1);
  CHECK(status.st_blocks * 512 < (12 << 20));
}

TEST_CASE("a copy of an image that is torn or changed is refused, and its part is named") {
  for (const bool torn : {true, false}) {
    Places places;
    const std::string path = places.parts + "/pages-1.img";
    if (torn) {
      std::filesystem::resize_file(path, 1 << 20);
    } else {
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(3 << 20).put('c');
    }
    const auto place = places.to->make_copy_place(7);
    const auto copied = copy_image(places.parts, *place, places.manifest);
    REQUIRE_FALSE(copied.ok());
    CHECK(copied.error().code == Errc::corrupt);
    CHECK(copied.error().message.find("pages-1.img") != std::string::npos);
  }
}

TEST_CASE("a copy that came to nothing is no image, and goes") {
  Places places;
  const auto place = places.to->make_copy_place(7);
  REQUIRE(place.ok());
  testing::overwrite(*place + "/pages-1.img", "half of it");
  ImageStore store(*places.to);
  CHECK(store.list()->empty());
  CHECK(*store.begin(3) == 3);
  REQUIRE(places.to->remove_copies().ok());
  CHECK_FALSE(std::filesystem::exists(*place));
  CHECK(places.to->remove_copies().ok());
}

}  // namespace piracema::ckpt
