#include "ckpt/image/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::ckpt {

Result<Done> copy_file(const std::string& from, const std::string& to, int flags) {
  const Fd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600));
  struct stat status {};
  if (!in || ::fstat(in.get(), &status) != 0) return io_error(from, "cannot read");
  if (!out || ::ftruncate(out.get(), 0) != 0 || ::ftruncate(out.get(), status.st_size) != 0) {
    return io_error(to, "cannot write");
  }
  std::vector<char> room(std::size_t{1} << 20);
  for (off_t at = 0; at < status.st_size;) {
    const off_t data = ::lseek(in.get(), at, SEEK_DATA);
    if (data < 0) break;
    off_t end = ::lseek(in.get(), data, SEEK_HOLE);
    if (end < 0) end = status.st_size;
    for (at = data; at < end;) {
      const auto want = std::min(room.size(), static_cast<std::size_t>(end - at));
      const ssize_t count = ::pread(in.get(), room.data(), want, at);
      if (count <= 0) return io_error(from, "cannot read");
      if (::pwrite(out.get(), room.data(), static_cast<std::size_t>(count), at) != count) {
        return io_error(to, "cannot write");
      }
      at += count;
    }
  }
  return Done{};
}

}  // namespace piracema::ckpt
