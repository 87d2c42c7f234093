#include "jobs/local/machine_kind.h"

#include <doctest/doctest.h>

#include "jobs/protocol/operations.h"

using namespace piracema::jobs;

TEST_CASE("a machine is of a kind that it says again, and that others understand") {
  const std::string kind = machine_kind();
  CHECK(kind == machine_kind());
  CHECK(is_label(kind));
  CHECK(kind.find("glibc-") != std::string::npos);
}

TEST_CASE("processors are of one kind if they can do the same, whatever else is said of them") {
  const std::string one = processor_kind("cpu MHz : 1\nflags\t\t: fpu sse2 avx\nbogomips : 7\n");
  CHECK(one.size() == 8);
  CHECK(one == processor_kind("cpu MHz : 2\nflags : avx fpu  sse2\n"));
  CHECK(one != processor_kind("flags : fpu sse2\n"));
  CHECK(one != processor_kind("flags : fpu sse2 avx avx2\n"));
  CHECK(processor_kind("processor : 0\n").empty());
}
