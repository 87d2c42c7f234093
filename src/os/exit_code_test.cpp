#include "os/exit_code.h"

#include <doctest/doctest.h>
#include <signal.h>

using namespace piracema;

TEST_CASE("the code of an exit is what a shell says of it") {
  // Wait statuses as Linux has them: the status in the second byte, or the signal in the first.
  CHECK(exit_code_of_status(0) == 0);
  CHECK(exit_code_of_status(3 << 8) == 3);
  CHECK(exit_code_of_status(255 << 8) == 255);
  CHECK(exit_code_of_status(SIGKILL) == 137);
  CHECK(exit_code_of_status(SIGSEGV | 0x80) == 139);
  CHECK(exit_code_of_signal(SIGTERM) == 143);
}
