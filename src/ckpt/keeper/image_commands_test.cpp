#include "ckpt/keeper/image_commands.h"

#include <doctest/doctest.h>

#include "base/testing.h"

namespace piracema::ckpt {

TEST_CASE(
    "a command is run where the job runs, for as long as it may take, and named by its option") {
  const testing::ScratchDirectory scratch;
  const auto directory = JobDirectory::open(scratch.path());
  REQUIRE(directory.ok());
  const KeeperSettings keeper{.before_save = {.command = std::chrono::seconds(2)},
                              .after_restore = std::chrono::milliseconds(1'500)};
  const JobFile job{.id = 7, .working_directory = "/srv/job"};
  ImageCommands commands({"sync-out", "sync-in"}, keeper, job, **directory);

  const Order before = commands.begin(CommandKind::before_save);
  CHECK(before.kind == OrderKind::command);
  CHECK(before.command == std::vector<std::string>{"/bin/sh", "-c", "sync-out"});
  CHECK(before.working_directory == "/srv/job");
  CHECK(before.within_ms == 2'000);
  CHECK(before.output == (*directory)->log_path() + "/before-save");
  const CommandEnded failed = commands.ended({.ok = false, .message = "ended with status 3"});
  CHECK_FALSE(failed.ok);
  CHECK(failed.why == "--before-save ended with status 3");

  const Order after = commands.begin(CommandKind::after_restore);
  CHECK(after.command.back() == "sync-in");
  CHECK(after.within_ms == 1'500);
  CHECK(after.output == (*directory)->log_path() + "/after-restore");
  CHECK(commands.ended({.ok = true}).ok);
  CHECK(commands.ended({.ok = false, .message = "x"}).why == "--after-restore x");
}

}  // namespace piracema::ckpt
