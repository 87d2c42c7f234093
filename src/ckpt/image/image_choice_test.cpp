#include "ckpt/image/image_choice.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {
namespace {

using List = std::vector<ImageId>;

TEST_CASE("a job goes on from its newest image") {
  CHECK(images_to_try({}, {}) == List{});
  CHECK(images_to_try({4, 5}, {}) == List{5, 4});
}

TEST_CASE("a job that fails from an image before there is another goes back by one") {
  const List doubted = doubted_after_failure({4, 5}, {}, 5);
  CHECK(doubted == List{5});
  CHECK(images_to_try({4, 5}, doubted) == List{4});
}

TEST_CASE("a job that fails after a newer image was made goes on from that one") {
  CHECK(doubted_after_failure({4, 5}, {}, 4) == List{});
  CHECK(doubted_after_failure({5, 6}, {5}, 4) == List{5});
  CHECK(images_to_try({5, 6}, {5}) == List{6});
}

TEST_CASE("an image that was passed by is none that is newer") {
  CHECK(doubted_after_failure({4, 5}, {5}, 4) == List{4, 5});
}

TEST_CASE("where the first image is doubted, too, the job begins again; else the oldest must do") {
  CHECK(images_to_try({1, 2}, {1, 2}) == List{});
  CHECK(images_to_try({4, 5}, {4, 5}) == List{4});
  CHECK(doubted_after_failure({4, 5}, {4, 5}, 4) == List{4, 5});
}

TEST_CASE("whoever fails from the beginning doubts nothing, and what is gone is forgotten") {
  CHECK(doubted_after_failure({1}, {}, std::nullopt) == List{});
  CHECK(doubted_after_failure({7, 8}, {3}, 7) == List{});
}

TEST_CASE("a job goes on from the image that its user has chosen") {
  CHECK(images_to_try({4, 5, 6}, doubted_for_choice({4, 5, 6}, 4)) == List{4});
  CHECK(images_to_try({4, 5, 6}, doubted_for_choice({4, 5, 6}, 6)) == List{6, 5, 4});
}

}  // namespace
}  // namespace piracema::ckpt
