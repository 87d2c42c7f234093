#include "ckpt/keeper/copies_elsewhere.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/log.h"
#include "base/testing.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

/// A job's directory and a disk of this node's own. What copies images is a shell script: it stands
/// still until a file lets it go on.
struct Node {
  Node() {
    auto opened = JobDirectory::open(scratch.path() + "/store");
    REQUIRE(opened.ok());
    store = *std::move(opened);
    const JobFile before = job;
    auto disk = LocalImages::open(scratch.path() + "/disk", before, job);
    REQUIRE(disk.ok());
    local = *std::move(disk);
    script("/program", "while [ ! -e " + scratch.path() +
                           "/$2 ]; do sleep 0.01; done\n"
                           "[ $2 = send ] || cp \"$3\"/* \"$4\"\n");
    script("/rsh", "echo \"$*\" >> " + scratch.path() + "/asked\n");
  }

  void script(const std::string& name, const std::string& text) const {
    testing::overwrite(scratch.path() + name, "#!/bin/sh\n" + text);
    REQUIRE(::chmod((scratch.path() + name).c_str(), 0700) == 0);
  }
  /// "copy": to the store; "send": to the partner.
  void let(const std::string& what) const { testing::overwrite(scratch.path() + "/" + what, ""); }
  void with_partner() { settings.partner = Partner{"n2", "/scratch"}; }

  ImageId make_image() {
    const auto image = local->images().begin(last + 1);
    REQUIRE(image.ok());
    testing::overwrite(local->directory().parts_path(*image) + "/inventory.img", "x");
    REQUIRE(local->images().commit(*image, job.id, 1).ok());
    return last = *image;
  }
  std::vector<ImageId> here() const {
    std::vector<ImageId> images;
    for (const Manifest& one : local->whole()) images.push_back(one.image);
    return images;
  }
  std::vector<ImageId> in_store() const {
    const auto all = ImageStore(*store).list();
    REQUIRE(all.ok());
    return good_images(*all);
  }

  CopiesElsewhere copies() {
    return {poller,
            settings,
            job,
            *local,
            *store,
            {.find_room = [this](std::uint64_t) -> Result<Done> {
               ++copies_begun;
               return Done{};
             },
             .in_store = [this] { ++came_to_store; },
             .note = [this](const std::string& text) { notes.push_back(text); }}};
  }
  /// Something comes to an end: a copy of an image, most likely.
  void wait_for_notes(std::size_t count) {
    while (notes.size() < count) poller.run_once(std::chrono::milliseconds(-1));
  }

  testing::ScratchDirectory scratch;
  net::Poller poller;
  CopiesElsewhere::Settings settings{scratch.path() + "/program", {}, scratch.path() + "/rsh"};
  JobFile job{.id = 7};
  std::unique_ptr<JobDirectory> store;
  std::unique_ptr<LocalImages> local;
  ImageId last = 0;
  int copies_begun = 0, came_to_store = 0;
  std::vector<std::string> notes;
};

using List = std::vector<ImageId>;

/// The last line that was logged.
std::string warning() {
  const auto lines = logged_lines();
  return lines.empty() ? "" : lines.back().text;
}

}  // namespace

TEST_CASE("an image of this node gets to the store, and goes from here when another follows") {
  Node node;
  node.let("copy");
  auto copies = node.copies();
  const ImageId first = node.make_image();
  copies.look();
  node.wait_for_notes(1);
  CHECK(testing::contains(node.notes[0], concat("image ", first, " is in the store as well")));
  CHECK(node.came_to_store == 1);
  CHECK(node.in_store() == List{first});
  CHECK(node.here() == List{first});
  const ImageId second = node.make_image();
  copies.look();
  node.wait_for_notes(2);
  CHECK(node.in_store() == List{first, second});
  CHECK(node.here() == List{second});
}

TEST_CASE("nothing begins to get to the store while that is left to an image written there") {
  Node node;
  node.let("copy");
  auto copies = node.copies();
  node.make_image();
  copies.leave_store_alone(true);
  copies.look();
  CHECK(node.copies_begun == 0);
  CHECK_FALSE(copies.is_getting_to_store());
  copies.leave_store_alone(false);
  copies.look();
  CHECK(node.copies_begun == 1);
  node.wait_for_notes(1);
}

TEST_CASE("an image that is sent to the partner stays here until it is there") {
  Node node;
  node.with_partner();
  node.let("copy");
  auto copies = node.copies();
  const ImageId first = node.make_image();
  copies.look();
  node.wait_for_notes(1);
  CHECK(node.in_store() == List{first});
  const ImageId second = node.make_image();
  copies.look();
  node.wait_for_notes(2);
  CHECK(node.in_store() == List{first, second});
  CHECK(node.here() == List{first, second});
  // The second one is in the store by now, and need not be sent.
  node.let("send");
  node.wait_for_notes(3);
  CHECK(testing::contains(node.notes[2], concat("image ", first, " is with the partner n2")));
  CHECK(node.here() == List{second});
}

TEST_CASE("a machine that is wanted keeps what is here alone, and that is said") {
  keep_log(1);
  Node node;
  auto copies = node.copies();
  const ImageId image = node.make_image();
  copies.look();
  CHECK(copies.is_getting_to_store());
  copies.stop();
  CHECK_FALSE(copies.is_getting_to_store());
  CHECK(testing::contains(warning(), concat("image ", image, " is on this node's disk alone")));
  copies.end(false);
  CHECK(node.here() == List{image});
  CHECK(node.in_store() == List{});
}

TEST_CASE("of an image that the partner has it is said that it is not here alone") {
  keep_log(1);
  Node node;
  node.with_partner();
  node.let("send");
  auto copies = node.copies();
  const ImageId image = node.make_image();
  copies.look();
  node.wait_for_notes(1);
  copies.stop();
  CHECK(testing::contains(warning(), concat("image ", image, " is not in the store yet")));
  CHECK(testing::contains(warning(), "and with the partner n2"));
}

TEST_CASE("whoever ends with the newest image in the store leaves none here") {
  Node node;
  node.with_partner();
  node.let("copy");
  auto copies = node.copies();
  const ImageId image = node.make_image();
  copies.get_newest_to_store();
  while (copies.is_getting_to_store()) node.poller.run_once(std::chrono::milliseconds(-1));
  copies.end(false);
  CHECK(node.in_store() == List{image});
  CHECK(node.here() == List{});
  // It may be needed yet.
  CHECK_FALSE(std::filesystem::exists(node.scratch.path() + "/asked"));
}

TEST_CASE("images of a job that is over go from here and from the partner") {
  Node node;
  node.with_partner();
  auto copies = node.copies();
  node.make_image();
  copies.look();
  copies.end(true);
  CHECK(node.here() == List{});
  CHECK(node.in_store() == List{});
  CHECK(testing::contains(testing::contents(node.scratch.path() + "/asked"), "partner forget"));
}

}  // namespace piracema::ckpt
