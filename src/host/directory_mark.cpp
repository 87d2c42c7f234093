#include "host/directory_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "net/session/handshake.h"

namespace piracema::cluster {

namespace {

constexpr std::string_view mark_name = "piracema.mark-";

void remove_old(const std::string& directory) {
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (std::filesystem::directory_iterator at(directory, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (at->path().filename().string().starts_with(mark_name)) old.push_back(at->path());
  }
  for (const auto& path : old) std::filesystem::remove(path, ignored);
}

bool make_file(const std::string& path) {
  return static_cast<bool>(
      Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)));
}

}  // namespace

Result<std::unique_ptr<DirectoryMark>> DirectoryMark::leave(const std::string& directory) {
  remove_old(directory);
  const std::string path = concat(directory, "/", mark_name, net::draw_token());
  if (!make_file(path)) return Error{Errc::config, with_errno(concat("'", path, "'"))};
  return std::unique_ptr<DirectoryMark>(new DirectoryMark(path));
}

DirectoryMark::~DirectoryMark() { ::unlink(path_.c_str()); }

Result<Done> look_for_mark(const std::string& path, const std::string& who) {
  const std::string directory = path.substr(0, path.rfind('/'));
  if (::access(path.c_str(), F_OK) != 0) {
    return Error{
        Errc::config,
        concat("want the snapshots' directory '", directory, "' shared by all hosts, found ",
               ::access(directory.c_str(), F_OK) == 0 ? "another one" : "none")};
  }
  const std::string own = concat(path, "-", who);
  if (!make_file(own)) {
    return Error{Errc::config,
                 with_errno(concat("want to write to the snapshots' directory '", directory, "'"))};
  }
  ::unlink(own.c_str());
  return Done{};
}

}  // namespace piracema::cluster
