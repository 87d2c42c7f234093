#include "ckpt/image/mapped_program.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"

using namespace piracema;
using namespace piracema::ckpt;

namespace {

// Not a program, but what matters of one: its beginning and its size.
struct File {
  explicit File(const std::string& content)
      : path(std::filesystem::temp_directory_path() /
             concat("piracema-mapped-program-", ::getpid())) {
    write(content);
  }
  ~File() { std::filesystem::remove(path); }
  void write(const std::string& content) const { std::ofstream(path) << content; }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("the program of a process is among what it has mapped, once, and its data are not") {
  const auto found = mapped_programs({::getpid(), ::getpid()});
  REQUIRE(found.ok());
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  CHECK(std::count_if(found->begin(), found->end(),
                      [&](const ProgramRecord& one) { return one.path == own; }) == 1);
  CHECK(std::all_of(found->begin(), found->end(), [](const ProgramRecord& one) {
    return one.path.starts_with('/') && one.bytes > 0;
  }));
  CHECK(check_programs(*found).ok());
}

TEST_CASE("a process that is gone has mapped nothing") { CHECK(mapped_programs({-1})->empty()); }

TEST_CASE("a program that has changed is refused with what it was and what it is") {
  const File file("built on monday");
  const auto was = look_at_program(file.path);
  REQUIRE(was.ok());
  CHECK(check_programs({*was}).ok());

  file.write("built on friday");
  const auto other = check_programs({*was});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Errc::failed);
  CHECK(other.error().message.find(file.path) != std::string::npos);
  CHECK(other.error().message.find("then 15 bytes, build ") != std::string::npos);
  CHECK(other.error().message.find("now 15 bytes, build ") != std::string::npos);

  file.write("built on monday, and longer");
  CHECK(check_programs({*was}).error().message.find("now 27 bytes") != std::string::npos);

  std::filesystem::remove(file.path);
  CHECK(check_programs({*was}).error().message.find("the job was saved with it (15 bytes") !=
        std::string::npos);
}
