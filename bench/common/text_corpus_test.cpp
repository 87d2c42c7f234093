#include "bench/common/text_corpus.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "bench/common/command.h"
#include "connect/files/temporary_directory.h"

using namespace piracema;
using namespace piracema::bench;
namespace fs = std::filesystem;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A small machine: text, what is no text, and packed files of both kinds.
struct SmallMachine {
  SmallMachine() {
    fs::create_directories(directory.path("share/sub"));
    directory.file("share/b", "second ");
    directory.file("share/a", "first ");
    directory.file("share/c.png", std::string("no\0text", 7));
    directory.file("share/d", "third ");
    directory.file("share/e", std::string(8'000'001, 'x'));
    directory.file("share/sub/f", "fourth ");
    directory.file("share/z.bin", std::string("no\0text", 7));
    fs::create_symlink(directory.path("share/a"), directory.path("share/link"));
    REQUIRE(run_command({"gzip", directory.path("share/d"), directory.path("share/z.bin")}));
  }
  Result<Corpus> write(std::uint64_t size) const {
    return write_text(size, out(), {directory.path("share")});
  }
  std::string out() const { return directory.path("out"); }
  TemporaryDirectory directory;
};

}  // namespace

TEST_CASE("text is gathered in the order of names, unpacked, without what is no text") {
  const SmallMachine machine;
  const auto corpus = machine.write(26);
  REQUIRE(corpus);
  CHECK(content(machine.out()) == "first second third fourth ");
  CHECK(corpus->files == 4);
  CHECK(corpus->distinct_bytes == 26);
}

TEST_CASE("too much text is cut, too little begins again") {
  const SmallMachine machine;
  REQUIRE(machine.write(8));
  CHECK(content(machine.out()) == "first se");
  fs::remove(machine.out());
  const auto corpus = machine.write(60);
  REQUIRE(corpus);
  CHECK(corpus->distinct_bytes == 26);
  CHECK(content(machine.out()) == "first second third fourth first second third fourth first se");
}

TEST_CASE("an output that exists or cannot be written, and a machine without text, are errors") {
  const SmallMachine machine;
  REQUIRE(machine.write(8));
  CHECK(machine.write(8).error().message == "output '" + machine.out() + "' exists: remove it");
  const std::string nowhere = machine.directory.path("no/such/out");
  CHECK(write_text(8, nowhere, {machine.directory.path("share")}).error().message ==
        "output '" + nowhere + "': No such file or directory");
  const auto none = write_text(8, machine.directory.path("x"), {machine.directory.path("none")});
  CHECK(none.error().code == Errc::not_found);
  CHECK_FALSE(fs::exists(machine.directory.path("x.partial")));
}

TEST_CASE("a size is a number with a unit") {
  CHECK(*parse_size("5000") == 5'000);
  CHECK(*parse_size("3k") == 3'000);
  CHECK(*parse_size("200M") == 200'000'000);
  CHECK(*parse_size("1G") == 1'000'000'000);
  for (const std::string wrong : {"", "0", "-1", "M", "5m", "5MB", " 5", "99999999999G"}) {
    CAPTURE(wrong);
    CHECK(parse_size(wrong).error().message ==
          "size: want a number of bytes, as 5000, 200M or 1G, found '" + wrong + "'");
  }
}
