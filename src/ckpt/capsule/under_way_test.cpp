#include "ckpt/capsule/under_way.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

namespace {

constexpr const char* head =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::vector<std::string> of(const std::string& line) { return connections_under_way(head + line); }

}  // namespace

TEST_CASE("connections that processes hold, and listeners at which nobody waits, can be saved") {
  CHECK(connections_under_way("").empty());
  CHECK(of("   0: 0100007F:1267 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0      "
           "  0 70 1 0000 100 0 0 10 0\n"
           "   1: 0100007F:1267 0100007F:A000 01 00000019:00000000 01:00000000 00000000     0      "
           "  0 71 1 0000 20 4 30 10 -1\n"
           "   2: 0100007F:A001 0100007F:1267 06 00000000:00000000 03:00001770 00000000     0      "
           "  0 0 3 0000\n")
            .empty());
}

TEST_CASE("a connection that nobody has accepted is under way") {
  const auto found = of(
      "   0: 0100007F:1267 00000000:0000 0A 00000000:00000001 00:00000000 00000000     0        0 "
      "70 1 0000 100 0 0 10 0\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "port 4711 has a connection that the job has not accepted yet");
}

TEST_CASE("a connection that is being opened is under way") {
  CHECK(of("   0: 0100007F:1267 0100007F:A000 03 00000000:00000000 01:00000064 00000000     0      "
           "  0 0 1 0000\n")
            .size() == 1);
}

TEST_CASE("what a closed connection has not delivered is under way; what it has is not") {
  const auto line = [](const char* state, const char* queue, const char* inode) {
    return std::string("   0: 0100007F:1267 0100007F:A000 ") + state + " " + queue +
           ":00000000 01:00000014 00000000     0        0 " + inode + " 1 0000\n";
  };
  for (const char* state : {"04", "09", "0B"}) {
    CHECK(of(line(state, "00000001", "0")).size() == 1);
    CHECK(of(line(state, "00000000", "0")).empty());
    // Its process has only shut down its side: the queue is in the image.
    CHECK(of(line(state, "00000001", "72")).empty());
  }
  CHECK(of(line("05", "00000000", "0")).empty());
}

TEST_CASE("addresses of IPv6 are read as well, and what is no line is passed by") {
  CHECK(of("   0: 00000000000000000000000001000000:1267 00000000000000000000000000000000:0000 0A "
           "00000000:00000002 00:00000000 00000000     0        0 70 1 0000\n")
            .size() == 1);
  CHECK(of("0: nonsense\n").empty());
}

}  // namespace piracema::ckpt
