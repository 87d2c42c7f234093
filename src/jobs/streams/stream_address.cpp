#include "jobs/streams/stream_address.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::jobs {

namespace {

constexpr std::size_t line_bytes_max = 512, token_bytes_max = 128;

Error wrong_address(const char* found) {
  return {Errc::config, concat("the address that it shows itself at is ", found)};
}

bool is_token_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// Of a place below the node's own folder where the user may have put links, pipes, or a file system
// whose program never answers.
Fd open_carefully(const std::filesystem::path& file) {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const std::filesystem::path place = file.parent_path();
  const Fd jobs(::open(place.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!jobs) return {};
  const std::string below = place.filename() / file.filename();
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  const long opened = ::syscall(SYS_openat2, jobs.get(), below.c_str(), &how, sizeof how);
  // Of Linux before 5.6, or where a container does not let it be called.
  if (opened < 0 && (errno == ENOSYS || errno == EPERM)) {
    return Fd(::openat(jobs.get(), below.c_str(), flags));
  }
  return Fd(static_cast<int>(opened));
}

}  // namespace

Result<StreamAddress> StreamAddress::parse(std::string_view line) {
  constexpr std::string_view scheme = "http://", before_token = "/?token=";
  if (!line.starts_with(scheme)) return wrong_address("none");
  line.remove_prefix(scheme.size());
  const std::size_t end = std::min(line.find('/'), line.size());
  auto address = net::Address::parse(line.substr(0, end));
  if (!address || address->is_local() || address->port() == 0) return wrong_address("none");
  const std::string host = address->host();
  if (host == "0.0.0.0" || host == "::") {
    address = net::Address::make(host == "::" ? "::1" : "127.0.0.1", address->port());
  } else if (host != "127.0.0.1" && host != "::1") {
    return wrong_address("not of this machine's loopback");
  }
  StreamAddress stream{.where = *address, .token = ""};
  line.remove_prefix(end);
  if (line.empty() || line == "/") return stream;
  if (!line.starts_with(before_token)) return wrong_address("none");
  stream.token = line.substr(before_token.size());
  const bool is_right = stream.token.size() <= token_bytes_max &&
                        std::all_of(stream.token.begin(), stream.token.end(), is_token_letter);
  if (!is_right) return wrong_address("none");
  return stream;
}

Result<std::optional<StreamAddress>> StreamAddress::read(const std::string& file, uid_t user) {
  const Fd in = open_carefully(file);
  if (!in && errno == ENOENT) return std::optional<StreamAddress>();
  if (!in && errno == ELOOP) return wrong_address("in a link, and not in a file of its own");
  struct stat status {};
  if (!in || ::fstat(in.get(), &status) != 0) {
    return Error{Errc::io, with_errno("the file with its address")};
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != user) {
    return wrong_address("in no file of its user");
  }
  std::array<char, line_bytes_max + 1> bytes;
  const ssize_t count = ::read(in.get(), bytes.data(), bytes.size());
  if (count < 0) return Error{Errc::io, with_errno("the file with its address")};
  std::string_view line(bytes.data(), static_cast<std::size_t>(count));
  if (line.size() > line_bytes_max) return wrong_address("none");
  if (line.ends_with('\n')) line.remove_suffix(1);
  auto address = parse(line);
  if (!address) return address.error();
  return std::optional(*std::move(address));
}

}  // namespace piracema::jobs
