#include "tools/run/summary.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace std::chrono_literals;

TEST_CASE(
    "a recovery says how long it took, and one that had no time to end that another one came") {
  cluster::RecoveryReport recovery{.epoch = 2,
                                   .causes = {"worker 1 (a/0): killed"},
                                   .restore = SnapshotId{7},
                                   .redone = 12,
                                   .noticed_at = 1s};
  CHECK(tools::recovery_text(recovery, false) ==
        "recovery: worker 1 (a/0): killed; overtaken by the next one, 12 items redone from "
        "snapshot 7");
  // The job ended in the middle of it.
  CHECK(tools::recovery_text(recovery, true).find("running again never, ") != std::string::npos);

  recovery.running_at = 3s;
  for (const bool is_last : {false, true}) {
    CHECK(tools::recovery_text(recovery, is_last) ==
          "recovery: worker 1 (a/0): killed; running again after 2.00 s, first new item out never, "
          "12 "
          "items redone from snapshot 7");
  }
}
