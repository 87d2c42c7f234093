#include "forecast/store/store_device.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace piracema::ckpt {

TEST_CASE("what waits for a device is what is dirty and what is being written") {
  const char* const table =
      "BdiWriteback:              344 kB\n"
      "BdiReclaimable:           2820 kB\n"
      "BdiDirtied:         1461911956 kB\n";
  CHECK(sum_of_lines(table, "BdiReclaimable:", "BdiWriteback:") == 3164 * 1024);
  CHECK(sum_of_lines("Dirty: 7 kB\nWriteback: 0 kB\nWritebackTmp: 9 kB", "Dirty:", "Writeback:") ==
        7 * 1024);
}

TEST_CASE("a table without a number where it should have one tells nothing") {
  CHECK_FALSE(sum_of_lines("", "Dirty:", "Writeback:"));
  CHECK_FALSE(sum_of_lines("Dirty: 7 kB\n", "Dirty:", "Writeback:"));
  CHECK_FALSE(sum_of_lines("Dirty:\nWriteback: 3 kB\n", "Dirty:", "Writeback:"));
  CHECK_FALSE(sum_of_lines("Dirty: many kB\nWriteback: 3 kB\n", "Dirty:", "Writeback:"));
}

TEST_CASE("the kernel's table is read anew each time, and one that makes no sense is left alone") {
  const int memory = ::memfd_create("table", MFD_CLOEXEC);
  const StoreDevice device{Fd(memory)};
  const auto say = [&](std::string_view table) {
    REQUIRE(::ftruncate(memory, 0) == 0);
    REQUIRE(::pwrite(memory, table.data(), table.size(), 0) == static_cast<ssize_t>(table.size()));
  };
  say("BdiWriteback: 1000000000 kB\nBdiReclaimable: 0 kB\n");
  CHECK(device.dirty_bytes() == 1024e9);
  say("BdiWriteback: 2000000000 kB\nBdiReclaimable: 1000000000 kB\n");
  CHECK(device.dirty_bytes() == 3 * 1024e9);
  // What this host has in memory is less.
  say("nothing");
  CHECK(device.dirty_bytes() < 1024e9);
}

TEST_CASE("a store that is on no device, or nowhere, can be asked as well") {
  CHECK(StoreDevice(std::string("/proc")).dirty_bytes() < 1024e9);
  CHECK(StoreDevice(std::string("/there/is/no/such/place")).dirty_bytes() < 1024e9);
}

}  // namespace piracema::ckpt
