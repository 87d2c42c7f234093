#include "ckpt/image/job_directory.h"

#include <doctest/doctest.h>

#include <string>

#include "base/testing.h"

namespace piracema::ckpt {

namespace {

std::string part(int number) { return "pages-" + std::to_string(number) + ".img"; }

}  // namespace

TEST_CASE("what a job is, is read as it was written") {
  const testing::ScratchDirectory scratch;
  const auto directory = JobDirectory::open(scratch.path() + "/job");
  REQUIRE(directory.ok());
  CHECK((*directory)->read().error().code == Errc::not_found);
  REQUIRE((*directory)
              ->write({.id = 7,
                       .command = {"./a b", "%\n"},
                       .working_directory = "/x",
                       .host_name = "h",
                       .hosts = {"one", "two"},
                       .ended = 9,
                       .doubted = {3, 4},
                       .local = "/scratch/%",
                       .local_mark = "0123",
                       .partner = "n2:/scratch"})
              .ok());
  const auto job = (*directory)->read();
  REQUIRE(job.ok());
  CHECK(job->id == 7);
  CHECK(job->command == std::vector<std::string>{"./a b", "%\n"});
  CHECK(job->hosts == std::vector<std::string>{"one", "two"});
  CHECK(job->ended == 9);
  CHECK(job->doubted == std::vector<ImageId>{3, 4});
  CHECK(job->local == "/scratch/%");
  CHECK(job->local_mark == "0123");
  CHECK(job->partner == "n2:/scratch");
}

TEST_CASE("however many read an image at once, the first part that is damaged is named") {
  const testing::ScratchDirectory scratch;
  const auto directory = JobDirectory::open(scratch.path() + "/job");
  REQUIRE(directory.ok());
  ImageStore images(**directory);
  const auto image = images.begin();
  REQUIRE(image.ok());
  const std::string place = (*directory)->parts_path(*image) + "/";
  for (int i = 1; i <= 9; ++i) testing::overwrite(place + part(i), std::string(100'000, 'a'));
  const auto manifest = images.commit(*image, 7, 0);
  REQUIRE(manifest.ok());
  CHECK(images.verify(*manifest).ok());

  const auto why = [&] {
    const auto verified = images.verify(*manifest);
    REQUIRE_FALSE(verified.ok());
    CHECK(verified.error().code == Errc::corrupt);
    return verified.error().message;
  };
  for (const int damaged : {9, 5, 2}) {
    testing::overwrite(place + part(damaged), std::string(99'999, 'a') + "b");
    CHECK(why().find(part(damaged) + ": the checksum differs") != std::string::npos);
  }
  testing::overwrite(place + part(1), std::string(99'999, 'a'));
  CHECK(why().find(part(1) + ": want 100000 bytes, found 99999") != std::string::npos);
}

}  // namespace piracema::ckpt
