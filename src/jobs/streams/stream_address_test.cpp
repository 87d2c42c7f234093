#include "jobs/streams/stream_address.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

/// The place of a job below that of its node.
struct JobPlace {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / concat("stream_address_test.", ::getpid());
  std::filesystem::path file = folder / "7" / ".http.1";

  JobPlace() { std::filesystem::create_directories(file.parent_path()); }
  ~JobPlace() { std::filesystem::remove_all(folder); }
  void write(const std::string& text) const { std::ofstream(file) << text; }
  Result<std::optional<StreamAddress>> read() const {
    return StreamAddress::read(file.string(), ::geteuid());
  }
};

std::string where(const std::string& line) {
  const auto address = StreamAddress::parse(line);
  return address ? address->where.text() : "";
}

}  // namespace

TEST_CASE("a stream is called at its address on loopback, and nowhere else") {
  CHECK(where("http://127.0.0.1:41871/?token=abc") == "127.0.0.1:41871");
  CHECK(where("http://[::1]:41871/") == "[::1]:41871");
  CHECK(where("http://127.0.0.1:41871") == "127.0.0.1:41871");
  CHECK(where("http://0.0.0.0:80/?token=abc") == "127.0.0.1:80");
  CHECK(where("http://[::]:80/?token=abc") == "[::1]:80");
  CHECK(StreamAddress::parse("http://127.0.0.1:1/?token=a-B.c_9")->token == "a-B.c_9");
  for (const char* line :
       {"", "http://", "127.0.0.1:80", "https://127.0.0.1:80", "http://169.254.169.254:80/",
        "http://10.0.0.1:80/?token=abc", "http://127.0.0.2:80/", "http://localhost:80/",
        "http://local:stream/", "http://127.0.0.1:0/", "http://127.0.0.1:80/?token=a b",
        "http://127.0.0.1:80/?token=a\r\nX: 1", "http://127.0.0.1:80/other",
        "http://127.0.0.1:80\r\n/?token=abc", "http://user@127.0.0.1:80/"}) {
    CAPTURE(line);
    CHECK(where(line).empty());
  }
  CHECK(where("http://127.0.0.1:80/?token=" + std::string(200, 'a')).empty());
}

TEST_CASE("a job without such a file shows no stream") {
  const JobPlace place;
  const auto none = place.read();
  REQUIRE(none.ok());
  CHECK_FALSE(*none);
}

TEST_CASE("the file that a stream has written says where it is") {
  const JobPlace place;
  place.write("http://127.0.0.1:41871/?token=abc\n");
  const auto address = place.read();
  REQUIRE(address.ok());
  CHECK((*address)->where.text() == "127.0.0.1:41871");
  CHECK((*address)->token == "abc");
}

TEST_CASE("what a user puts there in place of a file is neither read nor waited for") {
  const JobPlace place;
  std::ofstream(place.folder / "secret") << "http://127.0.0.1:1/\n";
  std::filesystem::create_symlink(place.folder / "secret", place.file);
  CHECK_FALSE(place.read().ok());
  std::filesystem::remove(place.file);
  REQUIRE(::mkfifo(place.file.c_str(), 0600) == 0);
  CHECK_FALSE(place.read().ok());
  std::filesystem::remove(place.file);
  std::filesystem::create_directory(place.file);
  CHECK_FALSE(place.read().ok());
  std::filesystem::remove(place.file);
  place.write(std::string(10'000, 'x'));
  CHECK_FALSE(place.read().ok());
  place.write("");
  CHECK_FALSE(place.read().ok());
  // Of somebody else: the node may read what this user may not.
  place.write("http://127.0.0.1:41871/\n");
  CHECK_FALSE(StreamAddress::read(place.file.string(), ::geteuid() + 1).ok());
  // A folder that is a link leads elsewhere.
  std::filesystem::create_directory(place.folder / "other");
  std::filesystem::rename(place.file, place.folder / "other" / ".http.1");
  std::filesystem::remove(place.folder / "7");
  std::filesystem::create_directory_symlink(place.folder / "other", place.folder / "7");
  CHECK_FALSE(place.read().ok());
}
