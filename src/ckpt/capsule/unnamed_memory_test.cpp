#include "ckpt/capsule/unnamed_memory.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

namespace {

constexpr const char* named =
    "55d0c8a00000-55d0c8a01000 r-xp 00000000 fe:00 1234                       /usr/bin/app\n"
    "55d0c9000000-55d0c9021000 rw-p 00000000 00:00 0                          [heap]\n"
    "7f0000000000-7f0000002000 rw-s 00000000 00:1a 3                          /dev/shm/a name\n"
    "7f0000100000-7f0000102000 rw-p 00000000 00:00 0\n";

ProcessMemory process(pid_t pid, std::string_view maps) {
  return {.pid = pid, .pieces = parse_maps(maps), .open = {}};
}

// Two pages and one behind them that is protected otherwise.
constexpr const char* shared_pages =
    "10000-12000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n"
    "12000-13000 r--s 00002000 00:01 7 /dev/zero (deleted)\n";

}  // namespace

TEST_CASE("a line of maps is taken apart, with a name that has blanks") {
  const auto pieces = parse_maps(named);
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[2].name == "/dev/shm/a name");
  CHECK(pieces[2].shared);
  CHECK(pieces[2].device == "00:1a");
  CHECK(pieces[2].inode == 3);
  CHECK(pieces[2].end - pieces[2].begin == 0x2000);
  CHECK(pieces[3].name.empty());
  CHECK_FALSE(pieces[3].shared);
}

TEST_CASE("memory with names, and shared memory that all have as a whole, is saved as it is") {
  CHECK(memory_saved_wrongly({process(1001, named)}).empty());
  CHECK(memory_saved_wrongly({process(1001, shared_pages), process(1002, shared_pages)}).empty());
}

TEST_CASE("shared memory of which somebody has a part is named") {
  const auto part = process(1002, "12000-13000 rw-s 00002000 00:01 7 /dev/zero (deleted)\n");
  CHECK(memory_saved_wrongly({process(1001, shared_pages), part})
            .starts_with("process 1002 has a part"));
  const auto gap = process(1001,
                           "10000-11000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n"
                           "12000-13000 rw-s 00002000 00:01 7 /dev/zero (deleted)\n");
  CHECK(memory_saved_wrongly({gap}).starts_with("process 1001 has a part"));
}

TEST_CASE("a memfd that is mapped and open is named") {
  constexpr const char* memfd = "1000-2000 rw-s 00000000 00:01 7 /memfd:x (deleted)\n";
  auto with = process(1002, "");
  with.open.insert({"00:01", 7});
  CHECK(memory_saved_wrongly({process(1001, memfd), with}).find("/memfd:x") != std::string::npos);
  with.open = {{"00:01", 8}};
  CHECK(memory_saved_wrongly({process(1001, memfd), with}).empty());
}

TEST_CASE("any part of a deleted file will do that is open, and all of it where it is not") {
  const auto part = process(1001,
                            "1000-2000 rw-s 00001000 00:1a 7 /dev/shm/x (deleted)\n"
                            "2000-3000 r-xp 00001000 00:1a 7 /dev/shm/x (deleted)\n");
  auto with = process(1002, "");
  CHECK_FALSE(memory_saved_wrongly({part, with}).empty());
  with.open.insert({"00:1a", 7});
  CHECK(memory_saved_wrongly({part, with}).empty());
  CHECK(memory_saved_wrongly(
            {process(1003, "1000-2000 rw-s 00000000 00:1a 7 /dev/shm/x (deleted)\n")})
            .empty());
}

TEST_CASE("a private copy of memory without a name, and memory of the kernel's, are named") {
  CHECK(memory_saved_wrongly(
            {process(1001, "1000-2000 r-xp 00000000 00:01 9 /memfd:code (deleted)\n")})
            .find("/memfd:code") != std::string::npos);
  CHECK(memory_saved_wrongly({process(1001, "1000-2000 rw-s 00000000 00:0c 5 socket:[5]\n")})
            .find("socket:[5]") != std::string::npos);
}

}  // namespace piracema::ckpt
