#include "net/rings/byte_ring.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "net/rings/rings.h"

using namespace piracema;
using namespace piracema::net;

namespace {

/// A ring in this process's own memory.
struct Ring {
  static constexpr std::size_t bytes = 64;
  RingHead head;
  std::array<std::byte, bytes> room{};
  Fd reader_bell{::eventfd(0, EFD_NONBLOCK)}, writer_bell{::eventfd(0, EFD_NONBLOCK)};
  RingWriter writer{head, room, Bell(reader_bell.get())};
  RingReader reader{head, room, Bell(writer_bell.get())};

  ssize_t write(std::string text) {
    const iovec part{text.data(), text.size()};
    return writer.write(&part, 1);
  }
  std::string read(std::size_t count) {
    std::string text(count, '\0');
    const iovec part{text.data(), text.size()};
    const ssize_t got = reader.read(&part, 1);
    return got < 0 ? "" : text.substr(0, static_cast<std::size_t>(got));
  }
  static bool rang(const Fd& bell) {
    eventfd_t count = 0;
    return eventfd_read(bell.get(), &count) == 0;
  }
};

std::vector<Fd> copies(const Rings& rings) {
  std::vector<Fd> all;
  for (const int fd : rings.descriptors()) all.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  return all;
}

}  // namespace

TEST_CASE("bytes come out of a ring as they went in, round its end as well") {
  Ring ring;
  for (int i = 0; i < 50; ++i) {
    const std::string text = "number " + std::to_string(i) + ", and so on";
    REQUIRE(ring.write(text) == static_cast<ssize_t>(text.size()));
    CHECK(ring.read(10) + ring.read(100) == text);
  }
}

TEST_CASE("a ring takes what it has room for, and no more") {
  Ring ring;
  CHECK(ring.write(std::string(100, 'a')) == 64);
  CHECK(ring.write("b") == -1);
  CHECK(errno == EAGAIN);
  CHECK(ring.read(20) == std::string(20, 'a'));
  CHECK(ring.write(std::string(100, 'b')) == 20);
  CHECK(ring.read(100) == std::string(44, 'a') + std::string(20, 'b'));
  CHECK(ring.read(1).empty());
  CHECK(errno == EAGAIN);
}

TEST_CASE("a bell rings for a reader that sleeps, and for no other") {
  Ring ring;
  CHECK(ring.write("a") == 1);  // It sleeps from the start.
  CHECK(Ring::rang(ring.reader_bell));
  CHECK(ring.write("b") == 1);
  CHECK_FALSE(Ring::rang(ring.reader_bell));
  CHECK_FALSE(ring.reader.sleep());  // For there is something to read.
  CHECK(ring.read(9) == "ab");
  CHECK(ring.reader.sleep());
  CHECK(ring.write("c") == 1);
  CHECK(Ring::rang(ring.reader_bell));
}

TEST_CASE("a writer that waits is told when half of the ring is free") {
  Ring ring;
  CHECK(ring.write(std::string(64, 'a')) == 64);
  CHECK(ring.writer.wait_for_room());
  CHECK(ring.read(31).size() == 31);
  CHECK_FALSE(Ring::rang(ring.writer_bell));
  CHECK(ring.read(1).size() == 1);
  CHECK(Ring::rang(ring.writer_bell));
  CHECK_FALSE(ring.writer.wait_for_room());
}

TEST_CASE("counters that make no sense are refused on both sides") {
  for (const std::uint64_t nonsense :
       {std::uint64_t{66}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
    Ring ring;
    CHECK(ring.write("a") == 1);
    ring.head.written = nonsense;
    CHECK(ring.read(100).empty());
    CHECK(errno == EPROTO);
  }
  for (const std::uint64_t nonsense : {std::uint64_t{2}, ~std::uint64_t{0} - 100}) {
    Ring ring;
    CHECK(ring.write("a") == 1);
    ring.head.read = nonsense;
    CHECK(ring.write("b") == -1);
    CHECK(errno == EPROTO);
  }
}

TEST_CASE("two threads pass bytes through a ring, sleeping and waking each other") {
  Ring ring;
  constexpr std::size_t total = 200'000;
  const auto wait_for = [](const Fd& bell) {
    while (!Ring::rang(bell)) std::this_thread::yield();
  };
  std::thread writing([&] {
    Random random(1);
    for (std::size_t sent = 0; sent < total;) {
      std::string text(std::min<std::size_t>(1 + random.below(90), total - sent), '\0');
      for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>((sent + i) % 127);
      const ssize_t count = ring.write(text);
      if (count > 0) sent += static_cast<std::size_t>(count);
      if (count < 0 && ring.writer.wait_for_room()) wait_for(ring.writer_bell);
    }
  });
  bool right = true;
  for (std::size_t got = 0; got < total;) {
    const std::string text = ring.read(50);
    for (const char c : text) right = right && c == static_cast<char>(got++ % 127);
    if (text.empty() && !ring.reader.is_worth_waiting() && ring.reader.sleep()) {
      wait_for(ring.reader_bell);
    }
  }
  writing.join();
  CHECK(right);
}

TEST_CASE("two processes' rings are each other's") {
  auto mine = Rings::create();
  REQUIRE(mine.ok());
  auto theirs = Rings::open(copies(**mine));
  REQUIRE(theirs.ok());
  std::string text = "hello";
  iovec part{text.data(), text.size()};
  CHECK((*mine)->write(&part, 1) == 5);
  text.assign(5, '?');
  CHECK((*theirs)->read(&part, 1) == 5);
  CHECK(text == "hello");
  CHECK((*theirs)->write(&part, 1) == 5);
  CHECK((*mine)->read(&part, 1) == 5);
}

TEST_CASE("what is not the rings of a peer is refused") {
  const auto refused = [](std::vector<Fd> descriptors) {
    const auto rings = Rings::open(std::move(descriptors));
    return !rings.ok() && rings.error().code == Errc::refused;
  };
  auto right = Rings::create();
  REQUIRE(right.ok());
  CHECK(refused({}));

  auto two = copies(**right);
  two.pop_back();
  CHECK(refused(std::move(two)));

  auto small = copies(**right);
  small[0] = Fd(::memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(refused(std::move(small)));

  auto unsealed = copies(**right);
  const auto bytes = ::lseek(unsealed[0].get(), 0, SEEK_END);
  unsealed[0] = Fd(::memfd_create("unsealed", MFD_CLOEXEC));
  REQUIRE(::ftruncate(unsealed[0].get(), bytes) == 0);
  CHECK(refused(std::move(unsealed)));

  auto pipe_for_bell = copies(**right);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Fd other(ends[1]);
  pipe_for_bell[1] = Fd(ends[0]);
  CHECK(refused(std::move(pipe_for_bell)));

  auto blocking_bell = copies(**right);
  blocking_bell[2] = Fd(::eventfd(0, EFD_CLOEXEC));
  CHECK(refused(std::move(blocking_bell)));

  auto other_layout = copies(**right);
  const std::uint32_t version = 2;
  REQUIRE(::pwrite(other_layout[0].get(), &version, sizeof version, 4) == sizeof version);
  CHECK(refused(std::move(other_layout)));
}
