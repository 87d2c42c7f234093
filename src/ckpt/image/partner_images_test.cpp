#include "ckpt/image/partner_images.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "base/testing.h"
#include "ckpt/image/place_mark.h"

namespace piracema::ckpt {

namespace {

/// What a partner has of job 7, and the store.
struct PartnersDisk {
  PartnersDisk() {
    REQUIRE(JobDirectory::open(place.path()).ok());
    REQUIRE(write_mark(place.path(), "0123").ok());
    auto opened = JobDirectory::open(scratch.path() + "/store");
    REQUIRE(opened.ok());
    store = *std::move(opened);
  }
  void make(ImageId number) {
    auto there = JobDirectory::open(place.path());
    REQUIRE(there.ok());
    ImageStore images(**there);
    REQUIRE(images.begin(number).ok());
    testing::overwrite(pages(number), std::string(5 << 20, 'a'));
    REQUIRE(images.commit(number, place.job, 1).ok());
  }
  std::string pages(ImageId number) const {
    return (*JobDirectory::look(place.path()))->parts_path(number) + "/pages-1.img";
  }
  ImageId bring(ImageId newest = 0) {
    const auto brought = bring_here(place, newest, *store);
    REQUIRE(brought.ok());
    return *brought;
  }
  std::vector<ImageId> in_store() { return good_images(*ImageStore(*store).list()); }

  testing::ScratchDirectory scratch;
  PartnerPlace place{scratch.path(), 7, "0123"};
  std::unique_ptr<JobDirectory> store;
};

using List = std::vector<ImageId>;

}  // namespace

TEST_CASE("a partner is a host and a directory that a shell reads as it is") {
  const auto partner = parse_partner("n2.example:/scratch/a-b");
  REQUIRE(partner.ok());
  CHECK(partner->host == "n2.example");
  CHECK(partner->directory == "/scratch/a-b");
  for (const char* wrong : {"", "n2", "n2:", ":/scratch", "n2:scratch", "-n2:/scratch", "n2:/a b",
                            "n2:/$x", "n 2:/a"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_partner(wrong).ok());
  }
}

TEST_CASE("the place of a job is named by words of a command line") {
  const PartnerPlace place{"/scratch", 0xABCDEF, "0123"};
  const auto again = PartnerPlace::parse(place.words());
  REQUIRE(again.ok());
  CHECK(again->path() == place.path());
  CHECK(again->mark == "0123");
  CHECK_FALSE(PartnerPlace::parse({"/scratch", "x/../y", "0123"}).ok());
  CHECK_FALSE(PartnerPlace::parse({"/scratch", "7"}).ok());
}

TEST_CASE("the newest image that the store lacks is brought") {
  PartnersDisk kept;
  kept.make(3);
  kept.make(4);
  CHECK(kept.bring(4) == 0);
  CHECK(kept.in_store() == List{});
  CHECK(kept.bring(3) == 4);
  CHECK(kept.in_store() == List{4});
  CHECK(ImageStore(*kept.store).verify(*ImageStore(*kept.store).list()->front().manifest).ok());
}

TEST_CASE("one that is torn is not brought, but the one before") {
  PartnersDisk kept;
  kept.make(3);
  kept.make(4);
  SUBCASE("shorter") { std::filesystem::resize_file(kept.pages(4), 5); }
  SUBCASE("other bytes") { testing::overwrite(kept.pages(4), std::string(5 << 20, 'b')); }
  CHECK(kept.bring() == 3);
  CHECK(kept.in_store() == List{3});
  CHECK(kept.bring(3) == 0);
}

TEST_CASE("images with another mark are not of the job's past") {
  PartnersDisk kept;
  kept.make(3);
  kept.place.mark = "4567";
  CHECK(kept.bring() == 0);
  kept.place.mark.clear();
  CHECK(kept.bring() == 0);
}

TEST_CASE("what is there goes once whoever receives an image has noticed that none comes") {
  PartnersDisk kept;
  kept.make(3);
  auto receiver = JobDirectory::open(kept.place.path());
  REQUIRE(receiver.ok());
  std::vector<std::string> words = kept.place.words();
  words.insert(words.begin(), "forget");
  auto code = std::async(std::launch::async, [&] { return run_partner(words); });
  CHECK(code.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  receiver->reset();
  CHECK(code.get() == 0);
  CHECK_FALSE(std::filesystem::exists(kept.place.path()));
}

}  // namespace piracema::ckpt
