#include "run/worker/attachment.h"

#include <doctest/doctest.h>

namespace piracema::runtime {

namespace {

Deploy deploy(Epoch epoch) {
  return {.epoch = epoch, .restore = {}, .placement = {}, .peers = {}, .skips = {}, .may_live = {}};
}

}  // namespace

TEST_CASE("a coordinator is refused once there was one of a higher term") {
  Attachment attachment;
  CHECK(attachment.admit(1));
  CHECK(attachment.admit(1));
  CHECK(attachment.admit(3));
  CHECK_FALSE(attachment.admit(2));
  CHECK(attachment.term() == 3);
}

TEST_CASE("who takes a job over hears again what was said of the epoch") {
  Attachment attachment;
  attachment.heard(deploy(2));
  attachment.said(Ready{2});
  attachment.said(Heartbeat{.epoch = 2, .cpu_ns = 0, .progress = {}});
  attachment.said(Saved{2, 5, 1, 10, 0, 0});
  attachment.said(Ended{2, 1});
  attachment.said(Committed{2, 4, 3});
  attachment.said(Committed{2, 5, 3});
  CHECK(attachment.admit(7));
  const auto all = attachment.answer();
  REQUIRE(all.size() == 4);
  CHECK(std::get<Attached>(all[0]).term == 7);
  CHECK(std::get<Attached>(all[0]).epoch == 2);
  CHECK(std::holds_alternative<Ready>(all[1]));
  CHECK(std::get<Ended>(all[2]).replica == 1);
  CHECK(std::get<Committed>(all[3]).snapshot == 5);
}

TEST_CASE("a Deploy makes void what was said before it, and what is said of an older epoch later") {
  Attachment attachment;
  attachment.heard(deploy(1));
  attachment.said(Ready{1});
  attachment.heard(deploy(2));
  attachment.said(OperatorFailed{1, 0, 4, "late"});
  CHECK(attachment.answer().size() == 1);
  attachment.said(Ready{2});
  CHECK(attachment.answer().size() == 2);
}

TEST_CASE("a Deploy that is said twice is heard once, and one of an older epoch never") {
  Attachment attachment;
  CHECK(attachment.heard(deploy(2)));
  attachment.said(Ready{2});
  CHECK_FALSE(attachment.heard(deploy(2)));
  CHECK_FALSE(attachment.heard(deploy(1)));
  CHECK(attachment.answer().size() == 2);
  CHECK(attachment.heard(Trigger{2, 1, {0}}));
  CHECK(attachment.heard(deploy(3)));
}

}  // namespace piracema::runtime
