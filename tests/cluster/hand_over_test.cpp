// Items whose memory is handed over, between threads and between processes.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "stream.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// What apps/pictures.cpp writes of so many.
std::string expected(std::size_t items) {
  constexpr std::array<std::size_t, 6> sizes{0, 100, (16 << 10) - 1, 20'000, 1'000'000, 5'000'000};
  std::string lines;
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t bytes = sizes[i % sizes.size()];
    lines += std::to_string(i) + " " + std::to_string(bytes) + " " +
             std::to_string(bytes * (i % 200 + 1)) + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("pictures that are handed over arrive whole and in order, whichever way they take") {
  const testing::ScratchDirectory scratch;
  const std::string out = scratch.path() + "/out";
  const std::vector<std::string> program = {PICTURES_APP, out, "items=60"};
  for (const std::string transport : {"", "tcp", "shm"}) {
    CAPTURE(transport);
    Job job(transport.empty() ? program
                              : piracema_run({"-n", "3", "--transport", transport}, program));
    CHECK(job.wait() == 0);
    CHECK(contents(out) == expected(60));
    ::unlink(out.c_str());
  }
}

TEST_CASE("no picture is lost or doubled when processes die") {
  const Stream stream;
  Job job(piracema_run({"-n", "3", "--snapshots", stream.snapshots, "--every", "100ms"},
                       {PICTURES_APP, stream.out, "until=" + stream.enough}));
  for (const std::size_t slot : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
    job.wait_for("snapshot");
    ::kill(job.worker(static_cast<int>(slot)).pid, SIGKILL);
    job.wait_for("lost");
  }
  job.wait_for("snapshot");
  stream.let_end();
  CHECK(job.wait() == 0);
  const std::string found = contents(stream.out);
  CHECK(found.size() > 100);
  CHECK(found == expected(lines_of(found).size()));
}
