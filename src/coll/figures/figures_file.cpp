#include "coll/figures/figures_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::coll {

Result<Done> write_figures(const std::string& file, const JobFigures& figures) {
  const Buffer bytes = encode(figures);
  const std::string fresh = file + ".new";
  // What is left of somebody who was killed; what is not ours stays, and is found below.
  ::unlink(fresh.c_str());
  const Fd out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      S_IRUSR | S_IWUSR));
  if (!out) return io_error(fresh, "cannot write");
  for (Bytes rest = bytes; !rest.empty();) {
    const ssize_t written = ::write(out.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return io_error(fresh, "cannot write");
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return io_error(file, "cannot write");
  return Done{};
}

Result<JobFigures> read_figures(const std::string& file) {
  const Fd in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!in) {
    if (errno == ENOENT) return Error{Errc::not_found, concat(file, ": there is none yet")};
    return io_error(file, "cannot open");
  }
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return io_error(file, "cannot read");
  if (!S_ISREG(status.st_mode)) return Error{Errc::corrupt, concat(file, ": want a file")};
  Buffer bytes;
  bytes.resize(figures_file_bytes_max + 1);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::read(in.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(file, "cannot read");
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  if (filled > figures_file_bytes_max) {
    return Error{Errc::corrupt, concat(file, ": more than ", figures_file_bytes_max, " bytes")};
  }
  bytes.resize(filled);
  return decode_figures(bytes);
}

}  // namespace piracema::coll
